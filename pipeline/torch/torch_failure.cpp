#include "pipeline/torch/torch_failure.h"

#include <torch/script.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

#include "pipeline/archive/custom_operators.h"
#include "pipeline/archive/engine_facts.h"
#include "pipeline/archive/metadata.h"
#include "pipeline/archive/operator_library.h"
#include "pipeline/archive/torch_code.h"
#include "pipeline/core/error.h"
#include "pipeline/core/lower_case.h"
#include "pipeline/core/printable.h"
#include "pipeline/core/text.h"
#include "pipeline/torch/torch_operators.h"

namespace lookout {
namespace {

constexpr std::string_view kHere = "<--- HERE";

std::string message_of(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  return torch_error ? torch_error->what_without_backtrace() : error.what();
}

std::string_view line_at(std::string_view text, std::size_t start) {
  return text.substr(start, text.find('\n', start) - start);
}

// "RuntimeError: ..." or "builtins.ValueError: ...". Lines of code are indented, or have other
// characters before a colon.
bool names_exception(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  return std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
}

// Whether there is nothing but names of exceptions: "RuntimeError: AssertionError: ".
bool says_nothing(std::string_view line) {
  const auto rest = line.find_last_of(':');
  return trimmed(line.substr(rest + 1)).empty() && line.find(' ') != std::string_view::npos;
}

// The line of code above the mark at `here`.
std::string_view code_above(std::string_view text, std::size_t here) {
  const auto mark = text.rfind('\n', here);
  if (mark == std::string_view::npos || mark == 0) return {};
  const auto before = text.rfind('\n', mark - 1);
  return trimmed(line_at(text, before == std::string_view::npos ? 0 : before + 1));
}

// Behind the last mark of a traceback stands some code, then the exception.
std::string sentence_behind(std::string_view text, std::size_t here) {
  for (auto end = text.find('\n', here); end != std::string_view::npos;
       end = text.find('\n', end + 1)) {
    const std::string_view line = line_at(text, end + 1);
    if (!names_exception(line)) continue;
    if (!says_nothing(line)) return first_line(line);
    const std::string name(trimmed(line.substr(0, line.find_last_of(':'))));
    return first_line(name + " at: " + std::string(code_above(text, here)));
  }
  return {};
}

// ---- Devices

// Backends whose tensors are on no CPU: c10/core/DispatchKey.h.
constexpr std::array kDevices{"CUDA", "HIP", "MPS", "XPU", "XLA", "HPU", "IPU"};

// The device in the code of a traceback that the last mark points to, else the kind.
std::string device_in(const std::string& text, const char* kind) {
  const std::string start = "torch.device(\"";
  const auto found = text.rfind(start + lower_case(kind));
  if (found == std::string::npos) return lower_case(kind);
  const auto begin = found + start.size();
  return text.substr(begin, text.find('"', begin) - begin);
}

// The device of another kind than the CPU that the archive asks for; empty: none.
std::string wanted_device(const std::string& text) {
  for (const char* kind : kDevices) {
    const std::string name = kind;
    const std::array<std::string, 4> signs{
        "arguments from the '" + name + "' backend", "Cannot initialize " + name,
        "support for " + lower_case(kind) + " devices", "not compiled with " + name + " enabled"};
    const bool found = std::any_of(signs.begin(), signs.end(), [&text](const std::string& sign) {
      return text.find(sign) != std::string::npos;
    });
    if (found) return device_in(text, kind);
  }
  return {};
}

// ---- Archives of other versions

// Which torch saved the archive, as far as it tells: "torch 2.6.0". Empty: unknown.
std::string torch_of(const ModelArchive& archive) {
  try {
    const ArchiveContents& contents = read_contents(archive);
    if (!contents.metadata.empty()) {
      const ModelSpec spec = parse_metadata(contents.metadata);
      const auto torch = spec.producer.find("torch");
      if (torch != spec.producer.end()) return "torch " + torch->second;
    }
    // https://docs.pytorch.org/docs/stable/notes/serialization.html
    const auto is_newer = [](const ArchiveMember& member) {
      return member.name == "byteorder" || member.name == ".data/serialization_id";
    };
    const bool newer = std::any_of(contents.members.begin(), contents.members.end(), is_newer);
    return newer ? "torch 2.1 or newer" : "";
  } catch (const std::runtime_error&) {
    return {};
  }
}

std::string library_version() { return std::string(to_text(Engine::kTorch)) + " " + TORCH_VERSION; }

std::string saved_by(const ModelArchive& archive) {
  const std::string torch = torch_of(archive);
  return torch.empty() ? "" : "; it was saved by " + torch;
}

constexpr const char* kSaveAgain =
    "; save it with the torch of that version, or export the network as ONNX";

// The number behind `start`; empty: there is none.
std::string number_behind(const std::string& text, const std::string& start) {
  const auto found = text.find(start);
  if (found == std::string::npos) return {};
  const auto begin = found + start.size();
  return text.substr(begin, text.find_first_not_of("0123456789", begin) - begin);
}

// Of an archive in a newer version of the format than LibTorch reads.
void refuse_newer_format(const ModelArchive& archive, const std::string& text) {
  const std::string version = number_behind(text, "Attempted to read a PyTorch file with version ");
  const std::string highest = number_behind(text, "the maximum supported version for reading is ");
  if (version.empty() || highest.empty()) return;
  refuse_model(archive.path(),
               "has version " + version + " of the format of TorchScript archives, and " +
                   library_version() + " reads up to " + highest + saved_by(archive) + kSaveAgain);
}

void refuse_operator(const ModelArchive& archive, const std::string& text) {
  const std::string name = missing_operator(text);
  if (name.empty()) return;
  if (!is_torch_operator(name)) refuse_missing_operator(archive.path(), name, Engine::kTorch);
  refuse_model(archive.path(), "needs the operator " + printable(name) + ", which " +
                                   library_version() + " does not have" + saved_by(archive) +
                                   kSaveAgain);
}

// torch.jit.optimize_for_inference() puts constants into the code that no archive holds.
void refuse_optimized(const ModelArchive& archive) {
  const auto is_optimized = [](const TorchCodeFile& file) {
    return file.text.find("prim.ConstantMKLDNNTensor") != std::string::npos;
  };
  const auto code = read_torch_code(archive);
  if (std::none_of(code.begin(), code.end(), is_optimized)) return;
  refuse_model(archive.path(),
               "was saved after torch.jit.optimize_for_inference(), whose weights are not in the "
               "file; save the model before that: lookout optimizes it itself");
}

}  // namespace

std::string first_sentence(const std::exception& error) {
  const std::string text = message_of(error);
  const auto here = text.rfind(kHere);
  const bool traceback = text.find("Traceback of TorchScript") != std::string::npos;
  std::string sentence;
  if (traceback && here != std::string::npos) sentence = sentence_behind(text, here);
  if (sentence.empty())
    sentence = first_line(text.substr(std::min(text.find_first_not_of(" \n"), text.size())));
  return sentence.empty() ? "LibTorch does not say why" : sentence;
}

void refuse_to_load(const ModelArchive& archive, const std::exception& error) {
  const std::string text = error.what();
  refuse_newer_format(archive, text);
  refuse_optimized(archive);
  refuse_operator(archive, text);
  refuse_model(archive.path(), "is not a TorchScript archive, or a damaged one (" +
                                   first_sentence(error) + ")" + saved_by(archive) +
                                   "; create it again with models/export.py");
}

void require_one_picture(const torch::jit::Module& module, const std::filesystem::path& archive) {
  const auto forward = module.find_method("forward");
  if (!forward) refuse_model(archive, "has no method forward, which classifies a picture");
  const auto& arguments = forward->function().getSchema().arguments();
  if (arguments.size() < 2) refuse_model(archive, "has a forward that takes no picture");
  const c10::TypePtr& type = arguments[1].type();
  if (!c10::TensorType::get()->isSubtypeOf(*type)) {
    const bool list = type->isSubtypeOf(*c10::ListType::ofTensors());
    refuse_model(archive, "takes " + printable(type->repr_str()) + " as its input" +
                              (list ? ", as detection models do" : "") +
                              ", but lookout runs classifiers, which take one picture: a tensor "
                              "[1, 3, height, width]");
  }
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    if (arguments[i].default_value()) continue;
    refuse_model(archive, "needs a second input, " + printable(arguments[i].name()) +
                              ", but lookout gives one picture");
  }
}

std::string failure_text(const std::string& what, const std::exception& error) {
  const std::string device = wanted_device(message_of(error));
  if (device.empty()) return what + ": " + first_sentence(error);
  return "wants the device " + printable(device) +
         ", which is not there; trace it on the CPU: model.cpu() before torch.jit.trace() or "
         "torch.jit.script(), and the same for tensors that its code makes";
}

}  // namespace lookout
