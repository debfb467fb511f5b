#include "platform/teach/taught_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/json_text.h"
#include "pipeline/core/sha256.h"
#include "pipeline/training/head_file.h"
#include "platform/system/atomic_file.h"
#include "platform/system/input_file.h"
#include "platform/system/parse_number.h"
#include "platform/system/state_folder.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kReportSuffix = ".json";

[[noreturn]] void refuse_writing(const std::error_code& code) {
  if (code == std::errc::no_space_on_device || code.value() == EDQUOT) {
    throw TeachError(TeachProblem::kDiskFull, "the disk is full");
  }
  throw TeachError(TeachProblem::kStorage, "the disk refuses: " + code.message());
}

void save(const fs::path& file, const std::string& text) {
  try {
    remove_abandoned(file);
    TempFile unfinished(file);
    unfinished.write(text);
    unfinished.keep();
  } catch (const std::system_error& error) {
    refuse_writing(error.code());
  }
}

// Nothing: it cannot be read.
std::optional<std::string> content_of(const fs::path& file) {
  try {
    return read_input("file", file);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The number of a file of a model; 0: it is another file.
int number_of(const fs::path& file) { return parse_number<int>(file.stem().string()).value_or(0); }

// With `suffix`, by number.
std::map<int, fs::path> numbered(const fs::path& folder, const std::string& suffix) {
  std::map<int, fs::path> files;
  std::error_code missing;
  for (fs::directory_iterator file(folder, missing), end; !missing && file != end;
       file.increment(missing)) {
    const int number = number_of(file->path());
    if (number > 0 && file->path().extension() == suffix) files[number] = file->path();
  }
  return files;
}

std::optional<TaughtReport> report_of(const fs::path& file) {
  const auto text = content_of(file);
  return text ? parse_report(*text) : std::nullopt;
}

// Why it is not the head with that hash, in words that follow its file; empty: it is.
std::string problem_of(const fs::path& head, const std::string& sha256_of_head) {
  std::error_code missing;
  const auto size = fs::file_size(head, missing);
  if (missing) return "cannot be read: " + missing.message();
  if (size > kMaxHeadBytes) return "is too large for a head";
  const auto bytes = content_of(head);
  if (!bytes) return "cannot be read";
  if (sha256(*bytes) != sha256_of_head) return "is damaged: it has another SHA-256";
  try {
    read_head(*bytes);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

fs::path models_folder_of(const fs::path& library) { return library / "models"; }

// The file "current".
struct TaughtModelStore::Choice {
  struct Model {
    int number = 0;
    std::string sha256;
  };

  std::optional<Model> used;
  std::optional<Model> previous;
  std::optional<Model> retired;      // was used until the watch was removed
  std::optional<std::string> title;  // of the watch; nothing: as of the training

  static fs::path file_in(const fs::path& folder) { return folder / "current"; }

  // Nothing: the file is damaged. Without one, nothing is in use.
  static std::optional<Choice> read(const fs::path& folder) {
    std::error_code unseen;
    if (!fs::exists(file_in(folder), unseen)) return Choice();
    const auto model_of = [](const json& value) -> std::optional<Model> {
      if (value.is_null()) return std::nullopt;
      return Model{value.at("number").get<int>(), value.at("sha256").get<std::string>()};
    };
    try {
      const json choice = parse_json(content_of(file_in(folder)).value_or(""));
      Choice read{model_of(choice.at("used")), model_of(choice.at("previous")),
                  model_of(choice.value("retired", json())), std::nullopt};
      if (choice.contains("title")) read.title = choice["title"].get<std::string>();
      return read;
    } catch (const json::exception&) {
      return std::nullopt;
    }
  }

  void write(const fs::path& folder) const {
    const auto to_json = [](const std::optional<Model>& model) {
      return model ? json{{"number", model->number}, {"sha256", model->sha256}} : json();
    };
    json text{
        {"used", to_json(used)}, {"previous", to_json(previous)}, {"retired", to_json(retired)}};
    if (title) text["title"] = *title;
    save(file_in(folder), to_text(text));
  }

  static fs::path head_in(const fs::path& folder, const Model& model) {
    return folder / fmt::format("{:04}{}", model.number, kHeadSuffix);
  }

  // Of the model in use. Nothing: it has none that can be read.
  std::optional<TaughtReport> report_in(const fs::path& folder) const {
    return report_of(head_in(folder, *used).replace_extension(kReportSuffix));
  }

  // That the run has. Nothing: its report is lost.
  std::optional<std::string> title_in(const fs::path& folder) const {
    if (title) return title;
    const auto report = report_in(folder);
    return report ? std::optional(report->title) : std::nullopt;
  }
};

fs::path TaughtModelStore::folder_of(const std::string& watch) const {
  const bool is_name = std::all_of(watch.begin(), watch.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
  if (watch.empty() || !is_name) {
    throw TeachError(TeachProblem::kNoWatch, "there is no such watch");
  }
  return folder_ / watch;
}

void TaughtModelStore::begin(const std::string& watch) const {
  const fs::path folder = folder_of(watch);
  if (const auto choice = Choice::read(folder); !choice || choice->used) refuse_taken_name(watch);
  std::error_code refused;
  fs::remove_all(folder, refused);
  if (refused) refuse_writing(refused);
}

fs::path TaughtModelStore::next_head(const std::string& watch) const {
  const fs::path folder = folder_of(watch);
  try {
    make_readable_folder(folder_);
    make_readable_folder(folder);
  } catch (const std::system_error& error) {
    refuse_writing(error.code());
  }
  int last = 0;
  for (const char* suffix : {kHeadSuffix, kReportSuffix}) {
    const auto files = numbered(folder, suffix);
    if (!files.empty()) last = std::max(last, files.rbegin()->first);
  }
  const fs::path head = Choice::head_in(folder, {last + 1, {}});
  remove_abandoned(head);
  return head;
}

void TaughtModelStore::keep(const std::string& watch, const fs::path& head,
                            const TaughtReport& report) const {
  const fs::path folder = folder_of(watch);
  save(fs::path(head).replace_extension(kReportSuffix), to_text(report));
  remove_old(folder);
}

// A report goes first, since a model without one is not told of.
void TaughtModelStore::remove_old(const fs::path& folder) const {
  const auto reports = numbered(folder, kReportSuffix);
  std::vector<int> stay;
  for (auto report = reports.rbegin(); report != reports.rend() && stay.size() < kKept; ++report) {
    stay.push_back(report->first);
  }
  const auto choice = Choice::read(folder);
  if (!choice) return;
  for (const auto& model : {choice->used, choice->previous, choice->retired}) {
    if (model) stay.push_back(model->number);
  }
  for (const char* suffix : {kReportSuffix, kHeadSuffix}) {
    for (const auto& [number, file] : numbered(folder, suffix)) {
      if (std::find(stay.begin(), stay.end(), number) != stay.end()) continue;
      std::error_code refused;
      fs::remove(file, refused);
    }
  }
}

TaughtModels TaughtModelStore::models(const std::string& watch) const {
  const fs::path folder = folder_of(watch);
  const auto reports = numbered(folder, kReportSuffix);
  TaughtModels models;
  for (auto report = reports.rbegin(); report != reports.rend(); ++report) {
    if (auto read = report_of(report->second)) models.kept.push_back(std::move(read->model));
  }
  if (!models.kept.empty()) models.trained = models.kept.front();
  const auto choice = Choice::read(folder);
  if (!choice) return models;
  const auto told = [&models](const std::optional<Choice::Model>& model) {
    if (!model) return std::optional<TaughtModel>();
    for (const TaughtModel& kept : models.kept) {
      if (kept.sha256 == model->sha256) return std::optional(kept);
    }
    TaughtModel unknown;  // only its report is lost
    unknown.sha256 = model->sha256;
    return std::optional(unknown);
  };
  models.used = told(choice->used);
  models.previous = told(choice->previous);
  return models;
}

fs::path TaughtModelStore::used_head(const std::string& watch) const {
  const fs::path folder = folder_of(watch);
  const auto choice = Choice::read(folder);
  return choice && choice->used ? Choice::head_in(folder, *choice->used) : fs::path();
}

void TaughtModelStore::use(const std::string& watch, const std::string& sha256_of_head) const {
  const fs::path folder = folder_of(watch);
  for (const auto& [number, file] : numbered(folder, kReportSuffix)) {
    const auto report = report_of(file);
    if (!report || report->model.sha256 != sha256_of_head) continue;
    const Choice::Model model{number, sha256_of_head};
    const fs::path head = Choice::head_in(folder, model);
    if (const std::string problem = problem_of(head, sha256_of_head); !problem.empty()) {
      throw TeachError(TeachProblem::kDamagedModel,
                       fmt::format("the model {} {}", number, problem));
    }
    Choice choice = Choice::read(folder).value_or(Choice());
    if (choice.used && choice.used->sha256 == sha256_of_head) return;
    if (choice.used) choice.previous = choice.used;
    choice.used = model;
    choice.retired.reset();
    if (choice.previous && choice.previous->sha256 == sha256_of_head) choice.previous.reset();
    choice.write(folder);
    return;
  }
  throw TeachError(TeachProblem::kNoModel, "there is no such model");
}

bool TaughtModelStore::rename(const std::string& watch, const std::string& title) const {
  const fs::path folder = folder_of(watch);
  std::error_code unseen;
  if (!fs::exists(folder, unseen)) return false;  // its training will know the title
  auto choice = Choice::read(folder);
  if (!choice || choice->title == title) return false;
  const bool changes = choice->used && choice->title_in(folder) != title;
  choice->title = title;
  choice->write(folder);
  return changes;
}

void TaughtModelStore::retire(const std::string& watch) const {
  const fs::path folder = folder_of(watch);
  const auto choice = Choice::read(folder);
  if (choice && !choice->used) return;
  Choice next = choice.value_or(Choice());
  next.retired = std::exchange(next.used, std::nullopt);
  next.write(folder);
}

bool TaughtModelStore::restore(const std::string& watch) const {
  const fs::path folder = folder_of(watch);
  auto choice = Choice::read(folder);
  if (!choice || choice->used || !choice->retired) return false;
  choice->used = std::exchange(choice->retired, std::nullopt);
  choice->write(folder);
  return true;
}

std::vector<TaughtRun> TaughtModelStore::in_use() const {
  std::vector<TaughtRun> runs;
  std::error_code missing;
  for (fs::directory_iterator entry(folder_, missing), end; !missing && entry != end;
       entry.increment(missing)) {
    const fs::path& folder = entry->path();
    TaughtRun run{folder.filename(), {}, {}, Choice::file_in(folder), {}};
    const auto choice = Choice::read(folder);
    if (choice && !choice->used) continue;
    if (choice) {
      run.head = Choice::head_in(folder, *choice->used);
      const auto report = choice->report_in(folder);
      run.problem = problem_of(run.head, choice->used->sha256);
      if (run.problem.empty() && !report) run.problem = "has no report that can be read";
      if (report) run.title = choice->title.value_or(report->title);
      if (report) run.roi = report->roi;
    } else {
      run.problem = "is damaged";
    }
    runs.push_back(std::move(run));
  }
  std::sort(runs.begin(), runs.end(),
            [](const TaughtRun& a, const TaughtRun& b) { return a.watch < b.watch; });
  return runs;
}

void TaughtModelStore::keep_only(const std::set<std::string>& watches) const {
  std::error_code missing;
  std::vector<fs::path> others;
  for (fs::directory_iterator entry(folder_, missing), end; !missing && entry != end;
       entry.increment(missing)) {
    const auto choice = Choice::read(entry->path());
    const bool is_used = choice && choice->used;
    if (!is_used && watches.count(entry->path().filename()) == 0) others.push_back(entry->path());
  }
  for (const fs::path& folder : others) {
    std::error_code refused;
    fs::remove_all(folder, refused);
  }
}

}  // namespace lookout
