// What `lookout setup` asks: one row for each question.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/install/setup_host.h"
#include "app/options/options.h"

namespace lookout {

using SetupAnswers = std::map<std::string, std::string>;  // by the keys of the questions

// Empty: there is none, as in the record of an older version that did not ask.
std::string answer_to(const SetupAnswers& answers, const std::string& key);

// What the last setup wrote down, in /etc/lookout/setup.json.
struct SetupRecord {
  SetupAnswers answers;
  std::vector<std::string> files;  // that it made; paths below the root, as "/etc/..."
  // As it was before the first setup: names of units.
  std::set<std::string> enabled_before;
  std::set<std::string> active_before;

  bool exists() const { return !answers.empty(); }
};

// What the answers come to.
struct SetupDraft {
  SetupAnswers answers;
  std::map<std::string, std::string> secrets;  // lines of files, by the names of credentials
  std::set<std::string> addresses;             // that the service may reach
  bool looks_up_names = false;
  std::set<std::string> public_hosts;  // of the internet, whose addresses change
  std::string model_bytes;  // of a model that is to be copied, or was; empty: none is named
  std::vector<std::string> model_hashes;
  std::string new_password;  // of the page; empty: that which there is

  bool has(const std::string& key, const std::string& answer) const;
};

// A setup while it asks.
struct SetupRun {
  const SetupOptions& options;
  const SetupHost& host;
  const SetupRecord& before;
  const RunOptions& config;                    // in force now
  std::map<std::string, std::string> secrets;  // that the last setup kept, as SetupDraft::secrets
  bool has_password = false;                   // of the page, now
  bool asks = false;                           // else each answer is an option or the proposal
  SetupDraft draft;

  // What an option says; empty: nothing.
  std::string given(const std::string& key) const;
  // The contents of a file with a secret, its first line.
  std::string secret_of(const std::string& flag, const std::string& file) const;
};

// The options that answer the questions.
std::vector<SetupFlag> setup_flags();

// Answers all questions: tries what can be tried, and asks again for what does not work. When
// nobody is asked, throws the Error of the first answer that does not work. Changes nothing but
// run.draft.
void ask_questions(SetupRun& run);

// Lines for who wants to know what is set up, without secrets.
std::string shown_answers(const SetupAnswers& answers);

// The secret's answer when there is one.
inline constexpr const char* kKept = "kept";
inline constexpr const char* kNone = "none";

// The folder for models that a service sees.
inline constexpr const char* kModelFolder = "/usr/local/share/lookout";

}  // namespace lookout
