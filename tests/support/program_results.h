// Looks into the output of a finished program.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace lookout {

// Every line of `text` as JSON.
std::vector<nlohmann::json> json_lines(const std::string& text);

// The objects of type "classification" on stdout.
std::vector<nlohmann::json> classifications(const ProgramResult& result);

// Expects that `status` is the exit status, and that the last line of stderr is one sentence of the
// program that contains `named`.
void expect_failure(const ProgramResult& result, int status, const std::string& named);

// Waits until the program listens at http.address=127.0.0.1:0, and returns the port.
std::uint16_t http_port(Program& program);

}  // namespace lookout
