#include "app/inspect/csi_checks.h"

#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "platform/system/paths_in.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using State = Check::State;

// Empty: as it should be.
std::string problem_with_ipa(const fs::path& root, const std::string& soname) {
  const auto versions = ipa_versions(root);
  if (versions.empty()) {
    return "; the cameras of a Raspberry Pi also need its IPA modules: sudo apt install "
           "libcamera-ipa";
  }
  return std::count(versions.begin(), versions.end(), soname) > 0
             ? ""
             : "; libcamera-ipa is of another version: sudo apt full-upgrade";
}

Check check_libcamera(const fs::path& root, const std::function<LoadedLibcamera()>& libcamera) {
  try {
    const LoadedLibcamera loaded = libcamera();
    const std::string problem = problem_with_ipa(root, loaded.soname);
    return {"libcamera", problem.empty() ? State::kOk : State::kNote,
            fmt::format("{}, by the module {}{}", loaded.version, loaded.module, problem)};
  } catch (const Error& error) {
    return {"libcamera", State::kNote, error.what()};
  }
}

std::string name_of_group(gid_t id) {
  const struct group* entry = ::getgrgid(id);
  return entry == nullptr ? std::to_string(id) : entry->gr_name;
}

std::vector<std::string> names_of(const std::vector<fs::path>& files) {
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const fs::path& file : files) names.push_back(file.filename());
  return names;
}

// As raspberrypi-sys-mods and the package's own udev rule set them.
Check check_heaps(const fs::path& root) {
  auto heaps = paths_in(root / "dev/dma_heap");
  std::sort(heaps.begin(), heaps.end());
  if (heaps.empty()) return {"dma-heap", State::kOk, "this kernel has none"};
  for (const fs::path& heap : heaps) {
    struct stat status {};
    if (::stat(heap.c_str(), &status) != 0) continue;
    const std::string group = name_of_group(status.st_gid);
    constexpr mode_t kReadAndWrite = S_IRGRP | S_IWGRP;
    if (group == "video" && (status.st_mode & kReadAndWrite) == kReadAndWrite) continue;
    return {
        "dma-heap", State::kNote,
        fmt::format("{} is of the group {}, mode {:03o}: CSI cameras need the group video and 660; "
                    "sudo udevadm trigger --subsystem-match=dma_heap applies the rule",
                    heap.string(), group, status.st_mode & 0777U)};
  }
  return {"dma-heap", State::kOk,
          fmt::format("{} of the group video", joined(names_of(heaps), ", "))};
}

}  // namespace

std::vector<Check> check_csi(const fs::path& root,
                             const std::function<LoadedLibcamera()>& libcamera) {
  return {check_libcamera(root, libcamera), check_heaps(root)};
}

}  // namespace lookout
