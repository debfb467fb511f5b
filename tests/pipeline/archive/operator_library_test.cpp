#include "pipeline/archive/operator_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <elf.h>

#include <cstddef>
#include <string>

#include "pipeline/archive/elf_file.h"
#include "tests/support/libraries/operator_libraries.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

OperatorAbi abi(Engine engine) {
  return {engine, "9.9", [](const std::string& version) { return version == "9.9"; }};
}

// The sentence that refuses the library; empty: it is accepted.
std::string refusal(const std::string& path, Engine engine, ErrorKind kind = ErrorKind::kBadData) {
  try {
    check_operator_library(path, abi(engine));
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_THAT(error.what(), StartsWith("operator library " + path + " "));
    return error.what();
  }
}

class OperatorLibraryTest : public testing::TestWithParam<Engine> {
 protected:
  TempDir directory_;
};

TEST_P(OperatorLibraryTest, WhatIsNoLibraryIsRefused) {
  const Engine engine = GetParam();
  EXPECT_THAT(refusal(directory_ / "none.so", engine, ErrorKind::kNoInput), HasSubstr("missing"));
  for (const std::string& bytes : {std::string(), std::string("no library"),
                                   std::string("\x7f"
                                               "ELF"),
                                   std::string(5000, '\x7f')}) {
    EXPECT_THAT(refusal(directory_.write("some.so", bytes), engine),
                HasSubstr("no shared library"));
  }
  EXPECT_THAT(refusal(directory_.path().string(), engine), HasSubstr("no shared library"));
}

TEST_P(OperatorLibraryTest, OfAnotherProcessorIsRefused) {
  std::string bytes = read_file(operator_library("wrong_pointer"));
  bytes[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_RISCV);
  EXPECT_THAT(refusal(directory_.write("riscv.so", bytes), GetParam()),
              HasSubstr("another processor"));
}

INSTANTIATE_TEST_SUITE_P(Engines, OperatorLibraryTest,
                         testing::Values(Engine::kTorch, Engine::kOnnxRuntime));

TEST(OperatorLibrary, OfAnotherVersionIsRefused) {
  EXPECT_THAT(refusal(operator_library("wrong_other_torch"), Engine::kTorch),
              HasSubstr("compiled for LibTorch 0.4.1, but this is 9.9"));
  EXPECT_THAT(refusal(operator_library("wrong_other_onnx"), Engine::kOnnxRuntime),
              HasSubstr("compiled for ONNX Runtime 1.9999, but this is 9.9"));
  EXPECT_THAT(refusal(operator_library("wrong_pointer"), Engine::kTorch),
              HasSubstr("lookout_operators_abi that is no text like \"LibTorch 9.9\""));
}

TEST(OperatorLibrary, OfTheOtherEngineIsRefused) {
  EXPECT_THAT(refusal(operator_library("wrong_other_onnx"), Engine::kTorch),
              HasSubstr("is for ONNX Runtime, but LibTorch runs this model"));
  EXPECT_THAT(refusal(operator_library("lookout_example_torch"), Engine::kOnnxRuntime),
              HasSubstr("is for LibTorch, but ONNX Runtime runs this model"));
  EXPECT_THAT(refusal(operator_library("wrong_undefined"), Engine::kOnnxRuntime),
              HasSubstr("exports no RegisterCustomOps"));
}

TEST(OperatorLibrary, UndefinedSymbolsAreNamed) {
  const std::string path = operator_library("wrong_undefined");
  check_operator_library(path, abi(Engine::kTorch));
  try {
    load_operator_library(path, abi(Engine::kTorch));
    FAIL() << "it is loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    EXPECT_THAT(error.what(), HasSubstr("cannot be loaded (undefined symbol: "));
    EXPECT_THAT(error.what(), HasSubstr("compile it with the headers of LibTorch 9.9"));
  }
}

// Whatever is wrong in a file, reading it is safe.
TEST(ElfFile, DamagedAndCutFilesAreRead) {
  const TempDir directory;
  const std::string whole = read_file(operator_library("wrong_other_onnx"));
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    const ElfFile file("file", directory.write("cut.so", whole.substr(0, size)));
    file.needed();
    file.text_of("lookout_operators_abi");
  }
  const ElfFile header("file", directory.write("header.so", whole));
  for (std::size_t at = sizeof(Elf64_Ehdr) - 24; at < whole.size(); at += 41) {
    std::string damaged = whole;
    damaged.replace(at, std::min<std::size_t>(8, whole.size() - at), 8, '\xff');
    const ElfFile file("file", directory.write("damaged.so", damaged));
    file.needed();
    file.text_of("lookout_operators_abi");
  }
  EXPECT_EQ(header.text_of("lookout_operators_abi"), "ONNX Runtime 1.9999");
  EXPECT_TRUE(header.exports("RegisterCustomOps"));
  EXPECT_FALSE(header.exports("RegisterCustomOp"));
}

}  // namespace
}  // namespace lookout
