// Why LibTorch does not run an archive, in sentences for users. Included by pipeline/torch/*.cpp
// only.
#pragma once

#include <exception>
#include <filesystem>
#include <string>

#include "pipeline/archive/archive.h"

namespace torch::jit {
struct Module;
}  // namespace torch::jit

namespace lookout {

// The sentence of a message without its backtrace: after a TorchScript traceback the line that
// names the exception, else the first line. An exception that says nothing gets the line of code
// that threw it. Never empty.
std::string first_sentence(const std::exception& error);

// Throws Error(kBadData) for what LibTorch threw while it loaded the archive.
[[noreturn]] void refuse_to_load(const ModelArchive& archive, const std::exception& error);

// Throws Error(kBadData) unless forward() takes one tensor, and whatever else has a default.
void require_one_picture(const torch::jit::Module& module, const std::filesystem::path& archive);

// What LibTorch threw, in words that follow "model FILE: ". `what` begins them: "fails while
// classifying"; but a device that is not there is named instead.
std::string failure_text(const std::string& what, const std::exception& error);

}  // namespace lookout
