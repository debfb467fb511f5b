#!/bin/bash
# Fuzzes the parsers of foreign data: libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer.
#
#   fuzz.sh [INPUTS [SEED]]    INPUTS for each target, by default 5000
#
# A million take hours. Logs, and inputs that were found to be wrong, are kept in
# build/fuzz. Exits with 77 where there is no clang++.
set -euo pipefail
cd "$(dirname "$0")/../.."
inputs=${1:-5000}
seed=${2:-1}
compiler=$(command -v clang++ || true)
[ -n "$compiler" ] || {
  echo 'fuzz: skipped: no clang++'
  exit 77
}
targets=(configuration decode_bytes exif head_file http_connection http_headers model_spec motion_jpeg mqtt multipart onnx onnx_profile
  raw_picture source_uri trace_summary)
for target in "${targets[@]}"; do mkdir -p "build/fuzz/seeds-$target"; done
unzip -p models/selftest.pt '*/metadata.json' >build/fuzz/seeds-model_spec/metadata.json
unzip -p models/selftest.pt '*/labels.txt' >build/fuzz/seeds-model_spec/labels.txt
cp deploy/lookout.toml deploy/all-keys.toml build/fuzz/seeds-configuration/
cp tests/data/trace.json tests/data/trace_*.json build/fuzz/seeds-trace_summary/
for uri in 'test://cross?size=640x480&fps=29.97&noise=3.5&hold=30&frames=9' test://all/ csi://imx708 csi:///base/1a \
  'rtsp://user:p%40ss@camera:554/a?b=c' 'http://[::1]:80/user=u' v4l2:///dev/video0 'file:///a%20b%231.png' /dev/video0; do
  printf %s "$uri" >"build/fuzz/seeds-source_uri/${uri//[^a-z0-9]/_}"
done

/usr/bin/python3 - build/fuzz/seeds-decode_bytes <<'END'
import sys
from PIL import Image
folder = sys.argv[1]
picture = Image.new("RGB", (30, 20), "red")
picture.putpixel((3, 4), (0, 255, 9))
for name in "jpg png webp tif bmp".split():
    picture.save(f"{folder}/red.{name}")
picture.save(f"{folder}/progressive.jpg", progressive=True)
picture.save(f"{folder}/lossless.webp", lossless=True)
picture.save(f"{folder}/lzw.tif", compression="tiff_lzw")
for mode, name in (("L", "gray.jpg"), ("L", "gray.tif"), ("P", "palette.png"), ("P", "palette.bmp"), ("CMYK", "cmyk.jpg"), ("RGBA", "alpha.png")):
    picture.convert(mode).save(f"{folder}/{name}")
exif = Image.Exif()
exif[0x112] = 6
for name in ("turned.jpg", "turned.webp"):
    picture.save(f"{folder}/{name}", exif=exif)
END
cp build/fuzz/seeds-decode_bytes/red.jpg build/fuzz/seeds-motion_jpeg/

printf 'multipart/form-data; boundary=x\n--x\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\nbytes\r\n--x--\r\n' \
  >build/fuzz/seeds-multipart/file

printf '%s\n' camera.example:8090 http://camera.example:8090 'Basic bWU6c2l4dGVlbiBsZXR0ZXJzOg==' 'fps=2&a&b=c=d' '[::1]:8090' \
  >build/fuzz/seeds-http_headers/name
printf '%s\n' '[fe80::1]:80' https://evil.example 'Bearer sixteen letters:' 'action=stream' unix:/run/http >build/fuzz/seeds-http_headers/ip
printf '%s\n' 10.0.0.1 http://10.0.0.1 'Basic me' '' 127.0.0.1:80 >build/fuzz/seeds-http_headers/v4
printf 'lookout/front/enabled/set\nON' >build/fuzz/seeds-mqtt/on
printf 'homeassistant/status\nonline' >build/fuzz/seeds-mqtt/birth
printf 'homeassistant/device/lookout_0123456789ab_front/config\n{"dev":{"name":"front"}}' >build/fuzz/seeds-mqtt/config
printf 'lookout/front/watch\n["gate","lamp"]' >build/fuzz/seeds-mqtt/watch
printf 'lookout/front/owner\n{"machine":"0123456789ab","host":"pi"}' >build/fuzz/seeds-mqtt/owner

printf "{0: 'tench', 1: \"jack-o'-lantern\", 2: 'it\\\\'s'}" >build/fuzz/seeds-onnx/names
# A protobuf message: nodes, a constant, the input and outputs of a graph, an opset, a text.
/usr/bin/python3 - >build/fuzz/seeds-onnx/model <<'END'
import sys
part = lambda number, content: bytes([number << 3 | 2, len(content)]) + content
value = lambda name, *sizes: part(1, name) + part(2, part(1, b"\x08\x01" + part(2, b"".join(part(1, size) for size in sizes))))
graph = part(1, part(1, b"image") + part(2, b"features") + part(4, b"Flatten"))
graph += part(1, part(1, b"features") + part(1, b"weights") + part(2, b"logits") + part(4, b"MatMul"))
graph += part(5, part(1, b"\x0c\x02") + b"\x10\x01" + part(8, b"weights") + part(9, bytes(96)))
graph += part(11, value(b"image", b"\x08\x01", b"\x08\x03", b"\x08\x02", part(2, b"any")))
graph += part(12, value(b"logits")) + part(12, value(b"features"))
model = b"\x08\x08" + part(2, b"seed") + b"\x3a" + bytes([len(graph) & 127 | 128, len(graph) >> 7]) + graph
sys.stdout.buffer.write(model + part(8, b"\x10\x0d") + b"\x72\x12" + part(1, b"task") + part(2, b"classify\0\0"))
END

printf '%s\n' '[{"cat":"Session","name":"model_run","ph":"X","tid":5,"ts":10,"dur":5,"args":{}},' \
  '{"cat":"Node","name":"/0/Conv_kernel_time","tid":5,"ts":21,"dur":2,"args":{"op_name":"Conv","output_size":"6272"}},' \
  '{"cat":"Session","name":"model_run","ph":"X","tid":5,"ts":20,"dur":9,"args":{}},' \
  '{"cat":"Node","name":"c","tid":6,"ts":25,"dur":1,"args":{"op_name":"Gemm"}},' \
  '{"cat":"Session","name":"model_run","ph":"X","tid":6,"ts":24,"dur":9,"args":{}}]' >build/fuzz/seeds-onnx_profile/profile.json

# Of each format a picture of 6x4 pixels, whose lines have some bytes more; and EXIF data of both byte orders.
/usr/bin/python3 - build/fuzz/seeds-raw_picture build/fuzz/seeds-exif <<'END'
import struct, sys
pictures, exif = sys.argv[1:]
for number in range(13):
    for several in range(2):
        for matrix in (1, 2):
            header = bytes([several, number, 5, 3, 20, 0, 0, 0, matrix, 1 + number % 2])
            with open(f"{pictures}/{number}-{several}-{matrix}", "wb") as file:
                file.write(header + bytes(range(160)))
for order, mark in (("<", b"II"), (">", b"MM")):
    for orientation in range(1, 9):
        tag = lambda *values: struct.pack(order + "HHII", *values)
        short = struct.pack(order + "HHIHH", 0x0112, 3, 1, orientation, 0)
        tiff = mark + struct.pack(order + "HIH", 42, 8, 2) + short + tag(0x8769, 4, 1, 38) + bytes(4)
        tiff += struct.pack(order + "H", 1) + tag(0x9003, 2, 20, 56) + bytes(4) + b"2024:05:06 07:08:09\0"
        app1 = b"Exif\0\0" + tiff
        jpeg = b"\xff\xd8\xff\xe1" + struct.pack(">H", len(app1) + 2) + app1 + b"\xff\xd9"
        for kind, data in (("tiff", tiff), ("app1", app1), ("jpeg", jpeg)):
            with open(f"{exif}/{mark.decode()}-{orientation}.{kind}", "wb") as file:
                file.write(data)
END

# The content of a head behind its hash: two classes, an output each, and an example of two numbers.
/usr/bin/python3 - >build/fuzz/seeds-head_file/content <<'END'
import json, struct, sys
picture = {"width": 8, "height": 8, "mean": [0, 0, 0], "std": [1, 1, 1], "channel_order": "RGB"}
metadata = {"name": "gate", "input": picture, "quantization": "", "weights": "", "trained": True, "producer": {}}
head = {"base": {"name": "b", "sha256": 64 * "a", "bytes": 9}, "metadata": metadata, "labels": ["a", "b", "unknown"]}
head.update(report=None, classes=2, outputs=2, width=2, examples=1, example_width=2, profiles=False, neighbours=5)
sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + struct.pack("<10f", *range(10)))
END

# Requests in two parts; the first byte tells where the second one begins.
requests=build/fuzz/seeds-http_connection
printf '\4GET /state?a=b HTTP/1.1\r\nHost: a\r\n\r\n' >$requests/get
printf '\3\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nHEAD /x HTTP/1.0\r\n\r\n' >$requests/two
printf '\6POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Type: image/jpeg\r\n\r\nbytes' >$requests/post
printf '\5POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n' >$requests/chunked
printf '\7PUT /p HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc' >$requests/expect
printf '\4POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc' >$requests/refused
printf '\0GET http://a:80/x?y HTTP/1.1\r\nHost: b\r\nOrigin: http://a\r\n\r\n' >$requests/absolute
printf '\0POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\n' >$requests/large

# Nesting that overflows the stack needs more bytes than other mistakes.
declare -A max_len=([model_spec]=524288)
printf '{"name":%s%s}' "$(printf '[%.0s' {1..100000})" "$(printf ']%.0s' {1..100000})" \
  >build/fuzz/seeds-model_spec/nested.json

# What the targets use of the program.
sources=(
  app/options/command_line.cpp app/options/config_file.cpp app/options/declarations.cpp app/options/help.cpp
  app/options/settings.cpp app/options/toml_node.cpp app/options/usage_errors.cpp app/options/value.cpp
  app/report/charts.cpp app/report/html.cpp app/report/json.cpp app/report/machine_facts.cpp app/report/report.cpp
  app/report/time_charts.cpp app/trace/trace_events.cpp app/trace/trace_fleet.cpp app/trace/trace_report.cpp
  app/trace/trace_summary.cpp app/trace/verdict.cpp pipeline/archive/custom_operators.cpp
  pipeline/archive/foreign_format.cpp pipeline/archive/foreign_names.cpp pipeline/archive/foreign_spec.cpp
  pipeline/archive/metadata.cpp pipeline/archive/onnx_contents.cpp pipeline/archive/onnx_graph.cpp
  pipeline/core/append_format.cpp pipeline/core/input_spec.cpp pipeline/core/json_text.cpp pipeline/core/log.cpp
  pipeline/core/model_spec.cpp pipeline/core/printable.cpp pipeline/core/raw_picture.cpp pipeline/core/result.cpp pipeline/core/sha256.cpp
  pipeline/model/preprocessor.cpp pipeline/model/taps.cpp pipeline/model/yuv_scaler.cpp
  pipeline/onnx/onnx_head.cpp pipeline/onnx/onnx_profile.cpp pipeline/results/format.cpp
  pipeline/results/statistics.cpp pipeline/training/embeddings.cpp pipeline/training/head_file.cpp platform/cameras/camera_controls.cpp
  platform/cameras/color_range.cpp platform/cameras/raw_converter.cpp platform/cameras/v4l2_picture.cpp
  platform/http/http_access.cpp platform/http/http_address.cpp platform/http/http_connection.cpp
  platform/http/http_message.cpp platform/http/http_metrics.cpp platform/http/upload_budget.cpp
  platform/metrics/metrics_text.cpp platform/mqtt/home_assistant.cpp platform/mqtt/mqtt_address.cpp
  platform/mqtt/mqtt_owner.cpp platform/mqtt/mqtt_topics.cpp platform/pictures/decode_picture.cpp
  platform/pictures/decode_upload.cpp platform/pictures/exif.cpp platform/pictures/jpeg_decoder.cpp
  platform/pictures/jpeg_segments.cpp platform/pictures/motion_jpeg.cpp platform/pictures/opencv_decoder.cpp
  platform/pictures/picture_format.cpp platform/pictures/png_decoder.cpp platform/pictures/webp_decoder.cpp
  platform/predict/multipart.cpp platform/reporters/terminal.cpp platform/sources/network_url.cpp
  platform/sources/source_uri.cpp platform/sources/test_pattern.cpp platform/system/atomic_file.cpp
  platform/system/child_process.cpp platform/system/input_file.cpp platform/system/non_blocking_writer.cpp
  platform/system/process.cpp platform/system/results_output.cpp
)
flags=(-std=c++17 -O1 -g -I. -isystem /usr/include/opencv4 '-DLOOKOUT_VERSION="fuzz"'
  '-fsanitize=fuzzer-no-link,address,undefined' -fno-sanitize-recover=all)

# Compiles the sources of the program once for all targets, of which each links what it needs. The code of
# others is not looked at, only what ours does with it.
compile() {
  local source launcher=() running=()
  command -v ccache >/dev/null && launcher=(ccache)
  for source in "$@"; do
    if [ "${#running[@]}" -ge "$(nproc)" ]; then
      wait "${running[0]}"
      running=("${running[@]:1}")
    fi
    "${launcher[@]}" "$compiler" "${flags[@]}" -c "$source.cpp" -o "build/fuzz/objects/${source//\//_}.o" &
    running+=($!)
  done
  for source in "${running[@]}"; do wait "$source"; done
}

# fuzz TARGET
fuzz() {
  local target=$1
  "$compiler" -fsanitize=fuzzer,address,undefined "build/fuzz/objects/tests_fuzz_$target.o" build/fuzz/program.a -o "build/fuzz/$target" \
    -lfmt -ljpeg -lmd -lopencv_core -lopencv_imgcodecs -lopencv_imgproc -lpng -lspdlog -ltiff -luriparser -lutf8proc -lwebp
  local log=build/fuzz/$target.log corpus=("build/fuzz/$target-corpus" "build/fuzz/seeds-$target")
  mkdir -p "build/fuzz/$target-corpus"
  [ ! -d "tests/fuzz/corpus/$target" ] || corpus+=("tests/fuzz/corpus/$target")
  if ! "build/fuzz/$target" -runs="$inputs" -seed="$seed" -max_len="${max_len[$target]:-8192}" -timeout=10 -verbosity=0 \
    -print_final_stats=1 -print_funcs=0 -artifact_prefix="build/fuzz/$target-" "${corpus[@]}" >"$log" 2>&1; then
    grep -E '^==|SUMMARY|Test unit written' "$log" | head -n 5
    echo "fuzz: $target: FAILED, see $log"
    exit 1
  fi
  echo "fuzz: $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs, no finding"
}

rm -rf build/fuzz/objects build/fuzz/program.a
mkdir -p build/fuzz/objects
compile "${sources[@]%.cpp}"
ar rcs build/fuzz/program.a build/fuzz/objects/*.o
compile "${targets[@]/#/tests/fuzz/}"
for target in "${targets[@]}"; do fuzz "$target"; done
