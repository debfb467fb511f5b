#include "pipeline/training/fit.h"

#include <lbfgs.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <new>
#include <numeric>

namespace lookout {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kMaxIterations = 100;
constexpr double kGradient = 1e-5;  // its norm, where the minimum is reached

// The mean cross-entropy of a linear layer, and half of l2 times its squared weights. The unknowns
// are the weights, [outputs][width], and the biases.
class Loss {
 public:
  explicit Loss(const FitOptions& options)
      : l2_(options.l2), outputs_(static_cast<Eigen::Index>(options.outputs)) {
    take_rows(options);
  }

  Eigen::Index unknowns() const { return outputs_ * (rows_.cols() + 1); }

  double evaluate(const lbfgsfloatval_t* unknowns, lbfgsfloatval_t* gradient) {
    const Eigen::Index count = outputs_ * rows_.cols();
    const Eigen::Map<const Eigen::VectorXd> weights(unknowns, count);
    const Eigen::Map<const Eigen::VectorXd> biases(unknowns + count, outputs_);
    weights_ = weights.cast<float>().reshaped<Eigen::RowMajor>(outputs_, rows_.cols());
    scores_.noalias() = rows_ * weights_.transpose();
    scores_.rowwise() += biases.cast<float>().transpose();
    const double entropy = take_softmax();
    weights_gradient_.noalias() = scores_.transpose() * rows_;
    Eigen::Map<Eigen::VectorXd>(gradient, count) =
        weights_gradient_.reshaped<Eigen::RowMajor>().cast<double>() + l2_ * weights;
    Eigen::Map<Eigen::VectorXd>(gradient + count, outputs_) =
        scores_.colwise().sum().transpose().cast<double>();
    return entropy + l2_ / 2 * weights.squaredNorm();
  }

 private:
  // The rows with a weight. Their weights become shares of the sum.
  void take_rows(const FitOptions& options) {
    const auto used = std::count_if(options.weights.begin(), options.weights.end(),
                                    [](float weight) { return weight != 0; });
    const auto width = static_cast<Eigen::Index>(options.embeddings.width());
    rows_.resize(used, width);
    for (std::size_t i = 0; i < options.weights.size(); ++i) {
      if (options.weights[i] == 0) continue;
      rows_.row(static_cast<Eigen::Index>(classes_.size())) =
          Eigen::Map<const Eigen::RowVectorXf>(options.embeddings[i], width);
      classes_.push_back(static_cast<Eigen::Index>(options.classes[i]));
      shares_.push_back(options.weights[i]);
    }
    const float sum = std::accumulate(shares_.begin(), shares_.end(), 0.0F);
    for (float& share : shares_) share /= sum;
  }

  // Replaces the scores by what their gradient is of, the probabilities less those that are right,
  // both by the rows' shares, and returns the mean cross-entropy.
  double take_softmax() {
    double entropy = 0;
    for (Eigen::Index i = 0; i < scores_.rows(); ++i) {
      auto row = scores_.row(i);
      row.array() -= row.maxCoeff();
      const float right = row[classes_[static_cast<std::size_t>(i)]];
      row = row.array().exp();
      const float sum = row.sum();
      row /= sum;
      row[classes_[static_cast<std::size_t>(i)]] -= 1;
      const float share = shares_[static_cast<std::size_t>(i)];
      row *= share;
      entropy += static_cast<double>(share) *
                 (std::log(static_cast<double>(sum)) - static_cast<double>(right));
    }
    return entropy;
  }

  const double l2_;
  const Eigen::Index outputs_;
  Matrix rows_;
  std::vector<Eigen::Index> classes_;
  std::vector<float> shares_;
  Matrix weights_;
  Matrix scores_;
  Matrix weights_gradient_;
};

lbfgsfloatval_t evaluate(void* loss, const lbfgsfloatval_t* unknowns, lbfgsfloatval_t* gradient,
                         int /*count*/, lbfgsfloatval_t /*step*/) {
  return static_cast<Loss*>(loss)->evaluate(unknowns, gradient);
}

}  // namespace

Head fit_head(const FitOptions& options, const Head* start) {
  Loss loss(options);
  const auto count = static_cast<std::size_t>(loss.unknowns());
  const std::unique_ptr<lbfgsfloatval_t, void (*)(lbfgsfloatval_t*)> unknowns(
      lbfgs_malloc(static_cast<int>(count)), lbfgs_free);
  if (!unknowns) throw std::bad_alloc();
  lbfgsfloatval_t* end = unknowns.get() + count;
  std::fill(unknowns.get(), end, 0);
  if (start != nullptr) {
    const auto biases = std::copy(start->weights.begin(), start->weights.end(), unknowns.get());
    std::copy(start->biases.begin(), start->biases.end(), biases);
  }
  lbfgs_parameter_t settings;
  lbfgs_parameter_init(&settings);
  settings.m = 10;
  settings.epsilon = kGradient;
  settings.max_iterations = kMaxIterations;
  // A line search that ends where floats end to differ has the minimum, too: `unknowns` is the
  // best.
  lbfgs(static_cast<int>(count), unknowns.get(), nullptr, evaluate, nullptr, &loss, &settings);
  Head head;
  head.outputs = options.outputs;
  lbfgsfloatval_t* biases = end - options.outputs;
  const auto to_float = [](lbfgsfloatval_t value) { return static_cast<float>(value); };
  std::transform(unknowns.get(), biases, std::back_inserter(head.weights), to_float);
  std::transform(biases, end, std::back_inserter(head.biases), to_float);
  return head;
}

}  // namespace lookout
