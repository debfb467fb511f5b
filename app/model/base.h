// The base of the package lookout-base, from which classes are taught when none is named.
#pragma once

#include <filesystem>
#include <optional>

#include "pipeline/archive/engine_facts.h"

namespace lookout {

// How to get a base, as the end of a sentence.
inline constexpr const char* kWayToBase =
    "install the package lookout-base, which deploy/package.sh makes, or give lookout train "
    "--model "
    "a model of models/export.py";

// The folder where the package of the running program has its models.
std::filesystem::path models_folder();

// The base in `folder` that an installed engine runs, that of the first engine when none is
// installed. Nothing when there is no such file. Loads nothing.
std::optional<std::filesystem::path> installed_base(
    const std::filesystem::path& folder = models_folder());

// Where the base of this engine is, if it is installed.
std::filesystem::path base_file(Engine engine,
                                const std::filesystem::path& folder = models_folder());

}  // namespace lookout
