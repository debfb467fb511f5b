// Where reports go.
#include <unistd.h>

#include <exception>

#include "app/report/machine_facts.h"
#include "app/report/report.h"
#include "pipeline/core/error.h"
#include "pipeline/core/lower_case.h"
#include "platform/reporters/terminal.h"
#include "platform/system/results_output.h"

namespace lookout {

ReportFormat ReportFile::format_of(const std::string& path) {
  const std::string extension = lower_case_extension(path);
  if (extension == ".html") return ReportFormat::kHtml;
  return extension == ".md" ? ReportFormat::kMarkdown : ReportFormat::kJson;
}

ReportFile::ReportFile(const std::string& what, const std::string& path, ReportFormat format)
    : format_(format) {
  if (!path.empty()) file_.emplace(what, path);
}

void ReportFile::save(const Report& report) const {
  if (!file_) return;
  const auto written = [&report, this]() -> std::string {
    switch (format_) {
      case ReportFormat::kText:
        return to_text(report);
      case ReportFormat::kMarkdown:
        return to_markdown(report);
      case ReportFormat::kJson:
        return to_json(report);
      case ReportFormat::kHtml:
        return to_html(report, made_by(LOOKOUT_VERSION));
    }
    return {};
  };
  file_->save([&written](const WritePart& write) { write(written()); });
}

void save_and_print(const Report& report, const std::vector<const ReportFile*>& files,
                    Format format, const WritePart& print) {
  std::exception_ptr unsaved;
  for (const ReportFile* file : files) {
    try {
      file->save(report);
    } catch (const Error&) {
      if (!unsaved) unsaved = std::current_exception();
    }
  }
  const std::size_t columns = isatty(results_fd()) == 1 ? terminal_size(results_fd()).columns : 0;
  print(format == Format::kJson ? to_json(report) : to_text(report, columns));
  if (unsaved) std::rethrow_exception(unsaved);
}

}  // namespace lookout
