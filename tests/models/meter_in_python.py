#!/usr/bin/python3
"""The device meter in Python, as its author would try a plug-in: loaded, renamed, used.

    meter_in_python.py LIBRARY

Exits with 77 where there is no PyTorch that the library was built for.
"""

import sys
import types

try:
    import torch

    torch.ops.load_library(sys.argv[1])
except (ImportError, OSError) as problem:
    print(f"skipped: {problem}")
    sys.exit(77)

module = types.ModuleType("meter")
module.is_available = lambda: True
module.device_count = lambda: 1
module.current_device = lambda: 0
torch.utils.rename_privateuse1_backend("meter")
torch._register_device_module("meter", module)
torch.utils.generate_methods_for_privateuse1_backend()

numbers = torch.arange(6.0).reshape(2, 3)
moved = numbers.to("meter:0")
assert moved.is_meter and moved.device == torch.device("meter", 0), moved.device
assert torch.equal((moved + numbers.meter()).cpu(), numbers + numbers)
picture, weight = torch.rand(1, 3, 8, 8), torch.rand(4, 3, 3, 3)
on_device = torch.nn.functional.conv2d(picture.meter(), weight.meter())
assert torch.equal(on_device.cpu(), torch.nn.functional.conv2d(picture, weight))
torch.ops.meter.set_label(moved, "numbers")
assert torch.ops.meter.label(moved) == "numbers"
print("meter in Python: fine")
