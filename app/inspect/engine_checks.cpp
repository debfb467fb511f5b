#include "app/inspect/engine_checks.h"

#include <fmt/format.h>

#include "app/report/json.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/run/open_model.h"
#include "platform/system/run_in_child.h"

namespace lookout {

Check check_engine(Engine engine, const std::function<EngineFacts(Engine)>& get_facts) {
  const char* name = row_of(engine).check;
  try {
    const EngineFacts facts = get_facts(engine);
    const std::string text =
        fmt::format("{}, engines {}; ", facts.version, joined(facts.engines, ", "));
    if (facts.lack.empty()) return {name, Check::State::kOk, text + facts.used + " is used"};
    return {name, Check::State::kNote, text + facts.lack};
  } catch (const Error& error) {
    return {name, Check::State::kNote, error.what()};
  }
}

EngineFacts facts_apart(Engine engine) {
  const auto ask = [engine] {
    const EngineFacts facts = engine_facts(engine);
    return to_text(Json{facts.version, facts.engines, facts.lack, facts.used});
  };
  const auto facts = parse_json(run_in_child(to_text(engine), ask));
  return {facts[0], facts[1], facts[2], facts[3]};
}

}  // namespace lookout
