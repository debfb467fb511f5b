#include "platform/webhook/message_template.h"

#include <nlohmann/json.hpp>

#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

MessageFields opened() {
  return {"front", "gate", "open", "closed", 0.974F, "2027-11-22T10:15:00+01:00"};
}

std::string filled(const std::string& text, Escaping escaping,
                   const MessageFields& fields = opened()) {
  return MessageTemplate("body", text, escaping).fill(fields);
}

TEST(MessageTemplate, WordsInBracesAreReplaced) {
  EXPECT_EQ(filled("{camera}/{watch}: {previous} -> {state} ({score}, {time})", Escaping::kNone),
            "front/gate: closed -> open (0.97, 2027-11-22T10:15:00+01:00)");
  EXPECT_EQ(filled("", Escaping::kNone), "");
  EXPECT_EQ(filled("{state}{state}", Escaping::kNone), "openopen");
}

TEST(MessageTemplate, OtherBracesStayAsTheyAre) {
  EXPECT_EQ(filled("{ {} {a b} {\"a\"} } {", Escaping::kNone), "{ {} {a b} {\"a\"} } {");
}

TEST(MessageTemplate, AValueIsNoTemplate) {
  MessageFields fields = opened();
  fields.state = "{camera}";
  EXPECT_EQ(filled("{state}", Escaping::kNone, fields), "{camera}");
}

TEST(MessageTemplate, AnUnknownWordIsRefusedByName) {
  expect_error(ErrorKind::kConfig,
               AllOf(HasSubstr("body: there is no {sate}"), HasSubstr("{state}")),
               [] { MessageTemplate("body", "secret {sate}", Escaping::kNone); });
  expect_error(ErrorKind::kConfig, Not(HasSubstr("secret")),
               [] { MessageTemplate("body", "secret {sate}", Escaping::kNone); });
}

TEST(MessageTemplate, NoLabelBreaksJson) {
  MessageFields fields = opened();
  fields.state = "a \"b\" \\ \n \x01 {x} \xff";
  fields.score.reset();
  const auto json = nlohmann::json::parse(
      filled(R"({"text": "now {state}, \"was\" {previous}", "state": {state}, "score": {score},
                 "{camera}": "{score}"})",
             Escaping::kJson, fields));
  EXPECT_EQ(json["state"], "a \"b\" \\ \n \x01 {x} \xEF\xBF\xBD");
  EXPECT_EQ(json["text"], "now a \"b\" \\ \n \x01 {x} \xEF\xBF\xBD, \"was\" closed");
  EXPECT_TRUE(json["score"].is_null());
  EXPECT_EQ(json["front"], "");
}

TEST(MessageTemplate, AScoreIsANumberOfJson) {
  EXPECT_EQ(filled("[{score}]", Escaping::kJson), "[0.97]");
}

TEST(MessageTemplate, WhatIsNoJsonIsRefused) {
  expect_error(ErrorKind::kConfig, AllOf(HasSubstr("body"), Not(HasSubstr("message"))),
               [] { MessageTemplate("body", R"({"message": "{state}")", Escaping::kJson); });
}

TEST(MessageTemplate, AHeaderStaysOnItsLine) {
  MessageFields fields = opened();
  fields.state = "open\r\nX-Evil: 1\n";
  EXPECT_EQ(filled("Title: {state}", Escaping::kHeader, fields), "Title: open  X-Evil: 1");
}

TEST(MessageTemplate, AUrlIsEncoded) {
  MessageFields fields = opened();
  fields.state = "a/b?c&d=\xC3\xA4 1";
  EXPECT_EQ(filled("http://host/?s={state}", Escaping::kUrl, fields),
            "http://host/?s=a%2Fb%3Fc%26d%3D%C3%A4%201");
}

TEST(MessageTemplate, KnowsJsonByItsBeginning) {
  for (const char* json : {R"({"a": 1})", " \n[1]", "{", "{ state }"}) {
    EXPECT_TRUE(looks_like_json(json)) << json;
  }
  for (const char* text : {"{camera}: {state}", "", "  ", "open", "{state}"}) {
    EXPECT_FALSE(looks_like_json(text)) << text;
  }
}

}  // namespace
}  // namespace lookout
