#include "pipeline/archive/operator_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "pipeline/archive/archive.h"
#include "pipeline/archive/elf_file.h"
#include "pipeline/core/module.h"
#include "pipeline/core/printable.h"
#include "pipeline/core/text.h"

namespace lookout {
namespace {

constexpr const char* kAbiSymbol = "lookout_operators_abi";

std::string name_of(const std::string& path) { return "operator library " + path; }

bool is_linked_for(const EngineRow& row, const std::vector<std::string>& needed) {
  return std::any_of(needed.begin(), needed.end(), [&row](const std::string& name) {
    return std::any_of(
        row.operators_link.begin(), row.operators_link.end(),
        [&name](std::string_view start) { return !start.empty() && starts_with(name, start); });
  });
}

// By what a library exports, else by what it was linked with; nothing: neither tells.
std::optional<Engine> engine_of(const ElfFile& library) {
  for (const EngineRow& row : kEngines) {
    if (row.operators_entry != nullptr && library.exports(row.operators_entry)) return row.engine;
  }
  const std::vector<std::string> needed = library.needed();
  for (const EngineRow& row : kEngines) {
    if (is_linked_for(row, needed)) return row.engine;
  }
  return std::nullopt;
}

void check_engine(const std::string& path, const ElfFile& library, Engine wanted) {
  const auto engine = engine_of(library);
  if (engine && *engine != wanted) {
    throw bad_operator_library(path, std::string("is for ") + to_text(*engine) + ", but " +
                                         to_text(wanted) + " runs this model");
  }
  const EngineRow& row = row_of(wanted);
  if (row.operators_entry != nullptr && !engine) {
    throw bad_operator_library(path, std::string("exports no ") + row.operators_entry +
                                         ", by which " + row.library + " asks for operators");
  }
}

void check_version(const std::string& path, const std::string& text, const OperatorAbi& abi) {
  const std::string start = std::string(to_text(abi.engine)) + " ";
  if (!starts_with(text, start)) {
    throw bad_operator_library(path, std::string("has a ") + kAbiSymbol +
                                         " that is no text like \"" + start + abi.version +
                                         "\" in an array of characters");
  }
  if (abi.accepts(text.substr(start.size()))) return;
  throw bad_operator_library(path, "was compiled for " + printable(text) + ", but this is " +
                                       abi.version + ": compile it with the headers of this one");
}

// The dynamic loader's message, without the path that it begins with.
std::string load_error(const std::string& path) {
  const char* text = ::dlerror();
  if (text == nullptr) return "no reason is known";
  const std::string message = printable(text);
  return starts_with(message, path + ": ") ? message.substr(path.size() + 2) : message;
}

}  // namespace

Error bad_operator_library(const std::string& path, const std::string& what) {
  return {ErrorKind::kBadData, name_of(path) + " " + what};
}

std::optional<Engine> engine_of_library(const std::string& path) {
  return engine_of(ElfFile(name_of(path), path));
}

void check_operator_library(const std::string& path, const OperatorAbi& abi) {
  const ElfFile library(name_of(path), path);
  if (!library.is_library()) throw bad_operator_library(path, "is no shared library");
  if (!library.is_for_this_processor()) {
    throw bad_operator_library(path, "is for another processor: compile it for this one");
  }
  check_engine(path, library, abi.engine);
  const auto text = library.text_of(kAbiSymbol);
  if (text) check_version(path, *text, abi);
}

void* load_operator_library(const std::string& path, const OperatorAbi& abi) {
  void* library = open_library(path);
  if (library != nullptr) return library;
  throw bad_operator_library(path, "cannot be loaded (" + load_error(path) +
                                       "): compile it with the headers of " + to_text(abi.engine) +
                                       " " + abi.version);
}

void refuse_missing_operator(const std::filesystem::path& model, const std::string& name,
                             Engine engine) {
  refuse_model(model, "needs the operator " + printable(name) + ", which neither " +
                          to_text(engine) + " has nor a library of --operators FILE");
}

}  // namespace lookout
