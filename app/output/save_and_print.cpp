#include "app/output/save_and_print.h"

#include <exception>

#include "pipeline/error.h"

namespace lookout {

void save_and_print(const std::optional<AtomicFile>& file, const std::string& content,
                    const std::string& text, const WritePart& print) {
  std::exception_ptr unsaved;
  try {
    if (file) file->save([&content](const WritePart& write) { write(content); });
  } catch (const Error&) {
    unsaved = std::current_exception();
  }
  print(text);
  if (unsaved) std::rethrow_exception(unsaved);
}

}  // namespace lookout
