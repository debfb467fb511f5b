// What RFC 9110 and 9112 say of requests: raw bytes to a real server.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/platform/http/http_client.h"
#include "tests/platform/http/http_testing.h"

namespace lookout {
namespace {

const std::string kHost = "Host: localhost\r\n";

class HttpRequests : public testing::Test {
 protected:
  HttpRequests() { run_.report(1, 1, true); }

  // `200`, or `400 bad_host`.
  std::string answer(const std::string& request) const {
    HttpClient client(run_.port());
    client.send(request);
    const HttpAnswer answer = client.read_answer();
    if (answer.status == 200) return "200";
    const auto error = nlohmann::json::parse(answer.body)["error"]["code"];
    return std::to_string(answer.status) + " " + error.get<std::string>();
  }
  static std::string get(const std::string& headers, const std::string& target = "/healthz",
                         const std::string& version = "1.1") {
    return "GET " + target + " HTTP/" + version + "\r\n" + headers + "\r\n";
  }

  HttpRun run_;
};

TEST(HttpQuery, ValuesAreDecodedAsFormsEncodeThem) {
  const auto query = parse_query("state=half+open&all=a%2Bb%26%C3%A4+%&none&state=other");
  EXPECT_EQ(query_value(query, "state"), "half open") << "the first of two counts";
  EXPECT_EQ(query_value(query, "all"), "a+b&ä %");
  EXPECT_EQ(query_value(query, "none"), "");
  EXPECT_EQ(query_value(query, "a"), std::nullopt);
}

// RFC 9112, 3.2.2
TEST_F(HttpRequests, ATargetMayBeAUrl) {
  for (const char* target :
       {"http://localhost/healthz", "HTTP://LocalHost:8090/healthz?a=b", "https://[::1]/healthz",
        "http://127.0.0.1:1/healthz", "http://localhost", "http://localhost?action=snapshots"}) {
    const bool is_page = std::string(target).find("healthz") != std::string::npos;
    const std::string expected =
        is_page || target == std::string("http://localhost") ? "200" : "404 not_found";
    EXPECT_EQ(answer(get(kHost, target)), expected) << target;
  }
  EXPECT_EQ(answer(get("", "http://localhost/healthz", "1.0")), "200");
}

TEST_F(HttpRequests, TheHostOfAUrlCountsInsteadOfTheHeader) {
  EXPECT_EQ(answer(get("Host: evil.example\r\n", "http://localhost/healthz")), "200");
  EXPECT_EQ(answer(get(kHost, "http://evil.example/healthz")), "421 wrong_host");
  EXPECT_EQ(answer(get(kHost, "http://me@localhost/healthz")), "421 wrong_host");
  EXPECT_EQ(answer(get("", "http://localhost/healthz")), "421 wrong_host");
  EXPECT_EQ(answer(get(kHost + "Origin: http://evil.example\r\n", "http://localhost/healthz")),
            "403 cross_origin");
  for (const char* target :
       {"http:///healthz", "ftp://localhost/", "localhost:80", "*", "http://localhost#/state"}) {
    EXPECT_EQ(answer(get(kHost, target)), "400 bad_target") << target;
  }
}

// RFC 9112, 2.2
TEST_F(HttpRequests, EmptyLinesBeforeARequestAreIgnored) {
  EXPECT_EQ(answer("\r\n" + get(kHost)), "200");
  EXPECT_EQ(answer("\r\n\r\n\r\n\r\n" + get(kHost)), "200");
  EXPECT_EQ(answer("\r\n\r\n\r\n\r\n\r\n" + get(kHost)), "400 bad_request");
  EXPECT_EQ(answer("\n" + get(kHost)), "400 bad_request");
  EXPECT_EQ(answer("\r" + get(kHost)), "400 bad_request");
}

TEST_F(HttpRequests, EmptyLinesMayComeInPiecesAndAfterARequest) {
  HttpClient client(run_.port());
  client.send("\r");
  client.send("\n");
  client.send("\r\n" + get(kHost) + "\r\n" + get(kHost));
  EXPECT_EQ(client.read_answer().status, 200);
  EXPECT_EQ(client.read_answer().status, 200);
  client.send("\r\n");
  client.send(get(kHost));
  EXPECT_EQ(client.read_answer().status, 200);
}

TEST_F(HttpRequests, AClientThatSendsEmptyLinesAloneIsNotAnswered) {
  HttpClient client(run_.port());
  client.send("\r\n\r\n");
  client.end_sending();
  EXPECT_EQ(client.read_all(), "");
}

// RFC 9110, 10.1.1
TEST_F(HttpRequests, AnUnknownExpectationIsRefused) {
  EXPECT_EQ(answer(get(kHost + "Expect: foo\r\n")), "417 unknown_expectation");
  EXPECT_EQ(answer(get(kHost + "Expect: 100-continue\r\nExpect: foo\r\n")),
            "417 unknown_expectation");
  EXPECT_EQ(answer(get(kHost + "Expect: 100-Continue\r\n")), "200");
  EXPECT_EQ(answer(get(kHost + "Expect: foo\r\n", "/healthz", "1.0")), "200");
}

// RFC 9112, 6.1
TEST_F(HttpRequests, ATransferCodingIsChunkedAlone) {
  const auto coded = [](const std::string& headers, const std::string& version = "1.1") {
    return "POST /predict HTTP/" + version + "\r\n" + kHost + headers + "\r\n0\r\n\r\n";
  };
  for (const char* coding : {"gzip, chunked", "identity, chunked", "gzip", "chunked, gzip"}) {
    EXPECT_EQ(answer(coded(std::string("Transfer-Encoding: ") + coding + "\r\n")),
              "501 unknown_coding")
        << coding;
  }
  EXPECT_EQ(answer(coded("Transfer-Encoding: chunked\r\n", "1.0")), "400 bad_coding");
  EXPECT_EQ(answer(coded("Transfer-Encoding: Chunked\r\n")), "405 wrong_method");
}

// What follows is no request, but a body whose end nobody knows.
TEST_F(HttpRequests, AfterAnUnknownCodingTheConnectionEnds) {
  HttpClient client(run_.port());
  client.send(get(kHost + "Transfer-Encoding: gzip\r\n") + get(kHost));
  EXPECT_EQ(client.read_answer().status, 501);
  EXPECT_EQ(client.read_all(), "");
}

TEST_F(HttpRequests, AHeaderThatDecidesComesOnce) {
  EXPECT_EQ(answer(get(kHost + kHost)), "400 bad_host");
  for (const char* line : {"Origin: http://localhost\r\n", "Authorization: Bearer a\r\n",
                           "Sec-Fetch-Site: none\r\n"}) {
    EXPECT_EQ(answer(get(kHost + line)), "200") << line;
    EXPECT_EQ(answer(get(kHost + line + line)), "400 repeated_header") << line;
  }
}

TEST_F(HttpRequests, PagesOfOtherSitesMayNotShowThePicture) {
  const std::string cross = kHost + "Sec-Fetch-Site: cross-site\r\n";
  EXPECT_EQ(answer(get(cross + "Sec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n")),
            "403 cross_site");
  EXPECT_EQ(answer(get(cross + "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n")),
            "403 cross_site");
  EXPECT_EQ(answer(get(cross)), "403 cross_site");
  EXPECT_EQ(answer(get(cross + "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n")), "200")
      << "a link";
  for (const char* site : {"same-origin", "same-site", "none"}) {
    EXPECT_EQ(answer(get(kHost + "Sec-Fetch-Site: " + site + "\r\nSec-Fetch-Mode: no-cors\r\n")),
              "200")
        << site;
  }
}

// Chromium takes two ports of an address for two sites where it applies the policy.
TEST_F(HttpRequests, PagesOfTheSameHostMayShowThePicture) {
  const auto policy = [this](const std::string& referer) {
    return http_get(run_.port(), "/healthz", "Host: 127.0.0.1:8090\r\nReferer: " + referer + "\r\n")
        .headers.at("cross-origin-resource-policy");
  };
  EXPECT_EQ(policy("http://127.0.0.1:8123/lovelace"), "cross-origin");
  EXPECT_EQ(policy("http://127.0.0.2:8123/"), "same-site");
  EXPECT_EQ(policy("http://127.0.0.1.evil.example/"), "same-site");
  EXPECT_EQ(policy("nonsense"), "same-site");
  EXPECT_EQ(policy(""), "same-site");
}

TEST(HttpEmbedding, PagesOfConfiguredNamesMayShowThePicture) {
  HttpServiceOptions options;
  options.access.hosts = {"home.example"};
  HttpRun run({}, options);
  run.report(1, 1, true);
  const std::string cross =
      "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nReferer: ";
  const HttpAnswer shown =
      http_get(run.port(), "/healthz", cross + "http://home.example:8123/\r\n");
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(shown.headers.at("cross-origin-resource-policy"), "cross-origin");
  const std::string form =
      "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nOrigin: http://home.example\r\n";
  EXPECT_EQ(http_get(run.port(), "/healthz", form).status, 200);
  const HttpAnswer refused =
      http_get(run.port(), "/healthz", cross + "http://evil.example/home.example\r\n");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.headers.at("cross-origin-resource-policy"), "same-site");
  // Over plain HTTP browsers tell of no site, and go by the policy alone.
  EXPECT_EQ(http_get(run.port(), "/healthz", "Host: localhost\r\nReferer: http://home.example/\r\n")
                .headers.at("cross-origin-resource-policy"),
            "cross-origin");
}

}  // namespace
}  // namespace lookout
