// What the routes of teaching say and are told, as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "platform/http/http_message.h"
#include "platform/teach/teach_progress.h"
#include "platform/teach/teach_trainer.h"
#include "platform/teach/teaching.h"

namespace lookout {

// What is told of a watch.
struct WatchFacts {
  TaughtWatch watch;
  TeachProgress progress;
  std::size_t unlabelled = 0;  // pictures
  TaughtModels models;
};

nlohmann::json json_of(const WatchFacts& facts);
nlohmann::json json_of(const HoldStatus& hold);
nlohmann::json json_of(const TeachJob& job);
nlohmann::json json_of(const TeachLook& look);
nlohmann::json json_of(const TaughtPicture& picture);
nlohmann::json json_of(const std::vector<PictureMark>& marks);

// The answer that says why something cannot be taught.
HttpResponse http_error(const TeachError& error);

// These read a body, which is an object. What it has besides does not count. They throw
// TeachError(kInvalid) with a sentence that names the member that is wrong or missing.
std::string text_member(const nlohmann::json& body, const char* name);
// A whole number, not below 0.
std::int64_t number_member(const nlohmann::json& body, const char* name);
// A watch that is new.
TaughtWatch parse_new_watch(const nlohmann::json& body);
// Changes what the body has, and takes its revision.
void change_watch(const nlohmann::json& body, TaughtWatch& watch);
std::vector<PictureMark> parse_marks(const nlohmann::json& body);

}  // namespace lookout
