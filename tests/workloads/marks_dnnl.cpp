// SPDX-License-Identifier: MIT
// marks_dnnl N - N products of matrices by oneDNN, which compiles their kernel and names it for ITT
#include <dnnl.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

static const int side = 256;

static dnnl::matmul make(const dnnl::engine &engine, const dnnl::memory::desc &d)
{
#if DNNL_VERSION_MAJOR >= 3
        return dnnl::matmul(dnnl::matmul::primitive_desc(engine, d, d, d));
#else
        return dnnl::matmul(dnnl::matmul::primitive_desc(dnnl::matmul::desc(d, d, d), engine));
#endif
}

int main(int argc, char **argv)
{
        const int n = argc > 1 ? std::atoi(argv[1]) : 1;
        const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
        const dnnl::memory::desc d({ side, side }, dnnl::memory::data_type::f32,
                                   dnnl::memory::format_tag::ab);
        std::vector<float> a(side * side, 1), b(side * side, 2), c(side * side);
        dnnl::memory left(d, engine, a.data()), right(d, engine, b.data()), product(d, engine, c.data());
        const dnnl::matmul matmul = make(engine, d);
        dnnl::stream stream(engine);

        for (int i = 0; i < n; i++) {
                matmul.execute(
                        stream,
                        { { DNNL_ARG_SRC, left }, { DNNL_ARG_WEIGHTS, right }, { DNNL_ARG_DST, product } });
                stream.wait();
        }
        std::printf("%g\n", c[0]);
        return 0;
}
