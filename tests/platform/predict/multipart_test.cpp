#include "platform/predict/multipart.h"

#include <gtest/gtest.h>

namespace lookout {
namespace {

const std::string kFile =
    "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"cat.jpg\"\r\n"
    "Content-Type: image/jpeg\r\n\r\nbytes\r\n--not the boundary\r\n--\r\n--x--\r\n";

std::string form_with_headers(const std::string& headers, const std::string& content = "c") {
  return "--x\r\n" + headers + "\r\n\r\n" + content + "\r\n--x--";
}

FormPart only_part(const std::string& disposition) {
  const auto parts = parse_multipart(form_with_headers("Content-Disposition: " + disposition), "x");
  return parts && parts->size() == 1 ? parts->front() : FormPart();
}

TEST(Multipart, FindsTheBoundary) {
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=abc"), "abc");
  EXPECT_EQ(boundary_of("Multipart/Form-Data ;charset=utf-8; BOUNDARY=\"a b;c\""), "a b;c");
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=" + std::string(70, 'b')),
            std::string(70, 'b'));
  for (const std::string& type :
       {std::string("multipart/form-data"), std::string("multipart/form-data; boundary="),
        std::string("multipart/mixed; boundary=abc"), std::string("image/jpeg"), std::string(),
        "multipart/form-data; boundary=" + std::string(71, 'b'),
        std::string("multipart/form-data; boundary")}) {
    EXPECT_EQ(boundary_of(type), std::nullopt) << type;
  }
}

TEST(Multipart, PartsHaveTheirNamesAndContents) {
  const std::string body = "--x\r\ncontent-disposition:form-data;name=note\r\n\r\n\r\n" + kFile;
  const auto parts = parse_multipart(body, "x");
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 2U);
  EXPECT_EQ((*parts)[0].name, "note");
  EXPECT_EQ((*parts)[0].filename, std::nullopt);
  EXPECT_EQ((*parts)[0].content, "");
  EXPECT_EQ((*parts)[1].name, "file");
  EXPECT_EQ((*parts)[1].filename, "cat.jpg");
  EXPECT_EQ((*parts)[1].content, "bytes\r\n--not the boundary\r\n--");
}

TEST(Multipart, TextBeforeTheFirstAndAfterTheLastBoundaryIsNoPart) {
  const auto parts = parse_multipart("hello\r\n" + kFile + "bye", "x");
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->size(), 1U);
  EXPECT_EQ(parse_multipart("--x--", "x")->size(), 0U);
}

TEST(Multipart, FileNamesAreThoseThatClientsWrite) {
  EXPECT_EQ(only_part(R"(form-data; name="file"; filename="C:\pictures\a.jpg")").filename,
            R"(C:\pictures\a.jpg)");
  EXPECT_EQ(only_part(R"(form-data; name="file"; filename="a\"b.jpg")").filename, "a\"b.jpg");
  EXPECT_EQ(only_part(R"(form-data; name="file"; filename="a;b=c.jpg")").filename, "a;b=c.jpg");
  EXPECT_EQ(only_part(R"(form-data; name="file"; filename*=utf-8''caf%C3%A9%2.jpg)").filename,
            "caf\xc3\xa9%2.jpg");
  EXPECT_EQ(only_part(R"(form-data; name="file"; filename*=plain%20text.jpg)").filename,
            "plain text.jpg")
      << "without a character set";
  EXPECT_EQ(only_part(R"(form-data; name="file"; filename="")").filename, "");
  EXPECT_EQ(only_part(R"(form-data; name="file"; filename="cut)").filename, "cut");
}

TEST(Multipart, NamesAreUnescapedAsTheirClientsEscapeThem) {
  const auto name_of = [](const std::string& written) {
    return only_part("form-data; name=\"file\"; filename=\"" + written + "\"").filename;
  };
  // Browsers: https://html.spec.whatwg.org/#escape-a-multipart-form-data-name
  EXPECT_EQ(name_of("a%22b%0D%0Ac.jpg"), "a\"b\r\nc.jpg");
  EXPECT_EQ(name_of("100%25 %2 %41.jpg"), "100%25 %2 %41.jpg");
  EXPECT_EQ(name_of("a%2"), "a%2");
  // Go's mime/multipart
  EXPECT_EQ(name_of(R"(a\\b\"c.jpg)"), R"(a\b"c.jpg)");
  EXPECT_EQ(only_part(R"(form-data; name="a%22b"; filename="c")").name, "a\"b");
}

TEST(Multipart, WhatIsCutOrMalformedIsRefused) {
  EXPECT_TRUE(parse_multipart(kFile, "x"));
  // Without the line end behind the last boundary it is complete.
  for (std::size_t size = 0; size < kFile.size() - 2; ++size) {
    EXPECT_FALSE(parse_multipart(kFile.substr(0, size), "x")) << size;
  }
  EXPECT_FALSE(parse_multipart(kFile, "y"));
  EXPECT_FALSE(parse_multipart(form_with_headers("no colon"), "x"));
  EXPECT_FALSE(
      parse_multipart(form_with_headers("Content-Disposition: attachment; name=file"), "x"));
  EXPECT_FALSE(parse_multipart("--xyz\r\nA: b\r\n\r\nc\r\n--x--", "x"));
}

TEST(Multipart, KeepsItsLimits) {
  const auto parts = [](std::size_t count) {
    std::string body;
    for (std::size_t i = 0; i < count; ++i) body += "--x\r\nA: b\r\n\r\nc\r\n";
    return parse_multipart(body + "--x--", "x");
  };
  EXPECT_TRUE(parts(FormPart::kMax));
  EXPECT_FALSE(parts(FormPart::kMax + 1));
  const auto lines = [](std::size_t count) {
    std::string headers = "A: b";
    for (std::size_t i = 1; i < count; ++i) headers += "\r\nA: b";
    return parse_multipart(form_with_headers(headers), "x");
  };
  EXPECT_TRUE(lines(FormPart::kMaxHeaderLines));
  EXPECT_FALSE(lines(FormPart::kMaxHeaderLines + 1));
  const auto header = [](std::size_t bytes) {
    return parse_multipart(form_with_headers("A:" + std::string(bytes - 2, 'b')), "x");
  };
  EXPECT_TRUE(header(FormPart::kMaxHeader));
  EXPECT_FALSE(header(FormPart::kMaxHeader + 1));
}

}  // namespace
}  // namespace lookout
