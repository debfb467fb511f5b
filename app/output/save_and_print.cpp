#include "app/output/save_and_print.h"

#include <exception>

#include "pipeline/core/error.h"

namespace lookout {

void save_and_print(const std::vector<SavedReport>& reports, const std::string& text,
                    const WritePart& print) {
  std::exception_ptr unsaved;
  for (const SavedReport& report : reports) {
    try {
      if (!report.file) continue;
      report.file->save([&report](const WritePart& write) { write(report.content); });
    } catch (const Error&) {
      if (!unsaved) unsaved = std::current_exception();
    }
  }
  print(text);
  if (unsaved) std::rethrow_exception(unsaved);
}

}  // namespace lookout
