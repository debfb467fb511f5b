#!/usr/bin/python3
"""The server of PyTorch's tutorial "Deploying PyTorch in Python via a REST API with Flask", on waitress.

    peer_flask.py ARCHIVE PORT

https://pytorch.org/tutorials/intermediate/flask_rest_api_tutorial.html, with a TorchScript archive
as the model, one thread of LibTorch, and labels as class names.
"""

import io
import sys

import torch
import torchvision.transforms as transforms
import waitress
from flask import Flask, jsonify, request
from PIL import Image

archive, port = sys.argv[1:]
torch.backends.quantized.engine = "qnnpack"
torch.set_num_threads(1)
extra = {"labels.txt": ""}
model = torch.jit.load(archive, map_location="cpu", _extra_files=extra).eval()
labels = extra["labels.txt"]
labels = (labels.decode() if isinstance(labels, bytes) else labels).splitlines()
transform = transforms.Compose(
    [
        transforms.Resize(255),
        transforms.CenterCrop(224),
        transforms.ToTensor(),
        transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ]
)
app = Flask(__name__)


@app.route("/predict", methods=["POST"])
def predict():
    image = Image.open(io.BytesIO(request.files["file"].read())).convert("RGB")
    with torch.no_grad():
        index = int(model(transform(image).unsqueeze(0)).max(1)[1])
    return jsonify({"class_id": str(index), "class_name": labels[index]})


waitress.serve(app, listen=f"127.0.0.1:{port}", threads=4)
