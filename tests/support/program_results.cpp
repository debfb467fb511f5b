#include "tests/support/program_results.h"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>
#include <utility>

namespace lookout {

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

std::vector<nlohmann::json> classifications(const ProgramResult& result) {
  std::vector<nlohmann::json> found;
  for (nlohmann::json& line : json_lines(result.out)) {
    if (line["type"] == "classification") found.push_back(std::move(line));
  }
  return found;
}

void expect_failure(const ProgramResult& result, int status, const std::string& named) {
  EXPECT_EQ(result.status, status) << result.err;
  const auto start = result.err.rfind("lookout: ");
  ASSERT_NE(start, std::string::npos) << result.err;
  const std::string sentence = result.err.substr(start);
  EXPECT_EQ(sentence.find('\n'), sentence.size() - 1) << "one line: " << sentence;
  EXPECT_NE(sentence.find(named), std::string::npos) << sentence;
}

std::uint16_t http_port(Program& program) {
  const std::string address = "http: http://127.0.0.1:";
  if (!program.wait_for(address)) throw std::runtime_error(program.err());
  const std::string log = program.err();
  return static_cast<std::uint16_t>(std::stoi(log.substr(log.find(address) + address.size())));
}

}  // namespace lookout
