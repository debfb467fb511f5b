// Counts the calls of operators on a custom device, and of those that fall back to the CPU.
// Included by pipeline/torch/*.cpp only.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <ATen/record_function.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/core/classifier.h"
#include "pipeline/torch/device_plugin.h"

namespace lookout {

// A call that has begun and not ended.
struct OpenDeviceCall {
  std::chrono::steady_clock::time_point start;
  const at::RecordFunction* function = nullptr;  // null: it falls back
  std::string op;
  std::string layer;
};

// While it lives, the calls of the thread that made it are counted.
class DeviceCallCounter {
 public:
  explicit DeviceCallCounter(const DevicePlugin& plugin);
  ~DeviceCallCounter();
  DeviceCallCounter(const DeviceCallCounter&) = delete;
  DeviceCallCounter& operator=(const DeviceCallCounter&) = delete;

  // The calling thread's; null: it counts nothing.
  static DeviceCallCounter* current();

  // Runs an operator on the CPU, whose arguments are on the stack, and counts it.
  void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack);

  // The calls so far, without the facts of the device.
  DeviceUse use() const;

 private:
  static std::unique_ptr<at::ObserverContext> begin_observed(const at::RecordFunction& function);
  static void end_observed(const at::RecordFunction& function, at::ObserverContext* context);
  void begin(std::string op, const at::RecordFunction* function);
  DeviceCalls& end();

  const DevicePlugin& plugin_;
  at::CallbackHandle callback_;
  std::optional<OpenDeviceCall> open_;  // those within it are parts of it
  DeviceUse use_;
  std::map<std::pair<std::string, std::string>, std::size_t> rows_;  // of an operator and a layer
};

// Runs an operator on the CPU: its arguments move there, its results back.
void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace lookout
