// lookout doctor --bundle: what helps others to find out why something does not work, in one file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/inspect/doctor.h"
#include "app/options/options.h"

namespace lookout {

struct BundleEntry {
  std::string name;     // of the file in the archive
  std::string content;  // masked
};

// The entries about this machine, its configuration and its service, without what is secret in
// them: see Masking. Files that hold secrets are named, and nothing of them is in it. What cannot
// be told is an entry that says why. Asks systemd, dpkg, the cameras and the service's own server,
// each for a few seconds at most. `given`: the texts that were set, by the settings' names.
std::vector<BundleEntry> collect_bundle(const RunOptions& options,
                                        const std::map<std::string, std::string>& given,
                                        const Diagnosis& diagnosis);

// A tar archive (ustar) of these entries in the folder `folder`, whose files belong to nobody and
// have the time `time` (seconds since 1970).
std::string to_tar(const std::vector<BundleEntry>& entries, const std::string& folder,
                   std::int64_t time);

// Writes the bundle to the file, in place of one that was there, or to stdout for "-", compressed
// by gzip(1). Nobody else may read the file. Returns the list of what is in it, for people. Throws
// Error, before anything is asked when the file cannot be written; then no file is left.
std::string write_bundle(const std::string& file, const RunOptions& options,
                         const std::map<std::string, std::string>& given, const Probes& probes,
                         const std::function<void(std::string_view)>& print);

}  // namespace lookout
