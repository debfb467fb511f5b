// What is told about a model: one list, for logs, reports, pages and metrics.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "app/report/report.h"
#include "pipeline/core/json_text.h"
#include "pipeline/core/model_facts.h"
#include "pipeline/core/model_spec.h"

namespace lookout {

struct ModelDescription {
  std::string file;         // of the archive; empty: not shown, as each that is empty
  std::string sha256;       // hexadecimal
  std::uint64_t bytes = 0;  // of the file
  ModelSpec spec;
  ModelFacts facts;                              // empty where the model was not run
  std::optional<std::uint64_t> parameters = {};  // nothing: not counted
  int threads = 0;                               // that compute; 0: not shown
};

// For people.
Facts to_facts(const ModelDescription& model);

// All of it, with the keys of `lookout inspect`. What is not known is null.
nlohmann::ordered_json to_json(const ModelDescription& model);

// The same object with these keys alone, in this order.
nlohmann::ordered_json pick(const nlohmann::ordered_json& json,
                            std::initializer_list<const char*> keys);

// What the results of a run say about their model.
nlohmann::ordered_json archive_facts(const ModelSpec& spec, const ModelFacts& facts);

}  // namespace lookout
