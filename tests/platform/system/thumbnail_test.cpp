#include "platform/system/thumbnail.h"

#include <gtest/gtest.h>

#include <boost/archive/iterators/binary_from_base64.hpp>
#include <boost/archive/iterators/transform_width.hpp>
#include <opencv2/imgcodecs.hpp>
#include <set>
#include <string>
#include <vector>

namespace lookout {
namespace {

// RFC 4648, section 4: a whole number of four letters, filled up with '='.
std::vector<unsigned char> from_base64(const std::string& text) {
  namespace iterators = boost::archive::iterators;
  using SixBits = iterators::binary_from_base64<std::string::const_iterator>;
  using Bytes = iterators::transform_width<SixBits, 8, 6>;
  const std::size_t letters = text.find_last_not_of('=') + 1;
  std::vector<unsigned char> bytes;
  Bytes next(text.begin());
  for (std::size_t i = 0; i < letters * 6 / 8; ++i)
    bytes.push_back(static_cast<unsigned char>(*next++));
  return bytes;
}

TEST(Thumbnail, IsAJpegWhateverItsLength) {
  const std::string before = "data:image/jpeg;base64,";
  std::set<std::size_t> paddings;
  cv::RNG random;
  for (int side = 16; side < 48; ++side) {
    cv::Mat picture(60, 90, CV_8UC3);
    random.fill(picture, cv::RNG::UNIFORM, 0, 256);
    const std::string uri = thumbnail_uri(picture, side);
    ASSERT_EQ(uri.substr(0, before.size()), before);
    const std::string text = uri.substr(before.size());
    ASSERT_EQ(text.size() % 4, 0U);
    paddings.insert(text.size() - 1 - text.find_last_not_of('='));
    const cv::Mat seen = cv::imdecode(from_base64(text), cv::IMREAD_COLOR);
    EXPECT_EQ(seen.size(), cv::Size(side, side));
  }
  EXPECT_EQ(paddings, (std::set<std::size_t>{0, 1, 2}));
}

}  // namespace
}  // namespace lookout
