#include "platform/cameras/bt709.h"

#include <algorithm>

namespace lookout {
namespace {

constexpr int kShift = 14;  // of fixed-point numbers
constexpr int kHalf = 1 << (kShift - 1);

// ITU-R BT.709-6, item 3.2: the shares of red, green and blue in luma.
constexpr double kRedWeight = 0.2126;
constexpr double kBlueWeight = 0.0722;
constexpr double kGreenWeight = 1 - kRedWeight - kBlueWeight;

constexpr int fixed(double value) {
  return static_cast<int>(value * (1 << kShift) + (value < 0 ? -0.5 : 0.5));
}

struct Coefficients {
  int black;  // luma of black
  int luma;
  int red_of_v;
  int green_of_u;
  int green_of_v;
  int blue_of_u;
};

constexpr Coefficients make_coefficients(int black, double luma_range, double chroma_range) {
  const double chroma = 255 / chroma_range;
  return {black,
          fixed(255 / luma_range),
          fixed(2 * (1 - kRedWeight) * chroma),
          fixed(-2 * (1 - kBlueWeight) * kBlueWeight / kGreenWeight * chroma),
          fixed(-2 * (1 - kRedWeight) * kRedWeight / kGreenWeight * chroma),
          fixed(2 * (1 - kBlueWeight) * chroma)};
}

constexpr Coefficients kLimited = make_coefficients(16, 219, 224);
constexpr Coefficients kFull = make_coefficients(0, 255, 255);

// Where the samples of one line lie. U and V belong to two pixels each.
struct Line {
  const unsigned char* luma;
  const unsigned char* u;
  const unsigned char* v;
};

unsigned char to_byte(int value) {
  return static_cast<unsigned char>(std::clamp(value >> kShift, 0, 255));
}

// `LumaStep`, `ChromaStep`: bytes from a sample to the next. Templates, so that the compiler can
// use vector instructions.
template <int LumaStep, int ChromaStep>
void convert_line(const Line& line, int width, const Coefficients& c, unsigned char* bgr) {
  for (int pair = 0; pair < width / 2; ++pair) {
    const int u = line.u[pair * ChromaStep] - 128;
    const int v = line.v[pair * ChromaStep] - 128;
    const int blue = c.blue_of_u * u + kHalf;
    const int green = c.green_of_u * u + c.green_of_v * v + kHalf;
    const int red = c.red_of_v * v + kHalf;
    for (int i = 0; i < 2; ++i) {
      const int luma = (line.luma[(2 * pair + i) * LumaStep] - c.black) * c.luma;
      unsigned char* pixel = bgr + 3 * (2 * pair + i);
      pixel[0] = to_byte(luma + blue);
      pixel[1] = to_byte(luma + green);
      pixel[2] = to_byte(luma + red);
    }
  }
}

const unsigned char* line_of(const RawPicture& picture, std::size_t plane, int y) {
  return picture.planes[plane] + static_cast<std::size_t>(y) * plane_stride(picture, plane);
}

void convert_line(const RawPicture& picture, int y, const Coefficients& c, unsigned char* bgr) {
  const unsigned char* first = line_of(picture, 0, y);
  const int width = picture.width;
  switch (picture.format) {
    case RawFormat::kYuyv:
      return convert_line<2, 4>({first, first + 1, first + 3}, width, c, bgr);
    case RawFormat::kYvyu:
      return convert_line<2, 4>({first, first + 3, first + 1}, width, c, bgr);
    case RawFormat::kUyvy:
      return convert_line<2, 4>({first + 1, first, first + 2}, width, c, bgr);
    default:
      break;
  }
  const unsigned char* second = line_of(picture, 1, y / 2);
  switch (picture.format) {
    case RawFormat::kNv12:
      return convert_line<1, 2>({first, second, second + 1}, width, c, bgr);
    case RawFormat::kNv21:
      return convert_line<1, 2>({first, second + 1, second}, width, c, bgr);
    case RawFormat::kI420:
      return convert_line<1, 1>({first, second, line_of(picture, 2, y / 2)}, width, c, bgr);
    default:  // kYv12
      return convert_line<1, 1>({first, line_of(picture, 2, y / 2), second}, width, c, bgr);
  }
}

}  // namespace

void convert_bt709(const RawPicture& picture, cv::Mat& bgr) {
  bgr.create(picture.height, picture.width, CV_8UC3);
  const Coefficients& coefficients = picture.encoding.full_range ? kFull : kLimited;
  for (int y = 0; y < picture.height; ++y) convert_line(picture, y, coefficients, bgr.ptr(y));
}

}  // namespace lookout
