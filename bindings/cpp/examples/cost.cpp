// What `x + y` of two 4 x 4 arrays costs. Answers each line, a number of calls, with the
// nanoseconds of one: how benchmarks/bindings.py asks.
#include "mxlite/mxlite.hpp"

#include <chrono>
#include <iostream>

int main()
{
    using clock = std::chrono::steady_clock;
    using mxlite::NDArray;
    NDArray x = NDArray::from(std::vector<float>(16, 1), {4, 4});
    NDArray y = NDArray::from(std::vector<float>(16, 2), {4, 4});
    std::cout << "C++" << std::endl;
    for (int count; std::cin >> count;) {
        clock::time_point begin = clock::now();
        for (int i = 0; i < count; i++)
            NDArray sum = x + y;
        std::chrono::duration<double, std::nano> spent = clock::now() - begin;
        std::cout << spent.count() / count << std::endl;
    }
}
