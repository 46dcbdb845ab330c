// What extension.c does in place of returning an error if it is built with THROWS: an exception leaves it.
#include <stdexcept>
#include <string>

static int unwound_frames;

struct Frame {
    ~Frame() { unwound_frames++; }
};

struct First {
    virtual ~First() {}
    int number = 1;
};

// The std::exception in it does not begin where it begins.
struct Error : First, std::runtime_error {
    explicit Error(const std::string &text) : std::runtime_error(text) {}
};

extern "C" int throwing(const char *text)
{
    Frame frame;
    if (std::string(text) == "backward makes no sense")
        throw 3;
    throw Error(text);
}

extern "C" int unwound()
{
    return unwound_frames;
}
