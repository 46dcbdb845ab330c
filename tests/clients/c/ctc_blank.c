/* CTCLoss with the last class as the blank, and labels that are equal to it, as Apache's own test
 * has them. */
#include "client.h"

int main(void)
{
    const client_param params[] = {
        {"use_label_lengths", "True"}, {"blank_label", "last"}, {NULL, NULL}};
    const uint32_t data_shape[] = {20, 2, 4}, length_shape[] = {2};
    const float labels[] = {2, 1, 2, 2, 3, 2, 2, 2}, lengths[] = {2, 3};
    NDArrayHandle inputs[] = {NULL, filled(2, 4, 0, 0), NULL}, out = none();
    float ones[160], losses[2] = {0};

    for (int i = 0; i < 160; i++)
        ones[i] = 1;
    CALL(MXNDArrayCreate(data_shape, 3, 1, 0, 0, &inputs[0]));
    CALL(MXNDArraySyncCopyFromCPU(inputs[0], ones, 160));
    CALL(MXNDArraySyncCopyFromCPU(inputs[1], labels, 8));
    CALL(MXNDArrayCreate(length_shape, 1, 1, 0, 0, &inputs[2]));
    CALL(MXNDArraySyncCopyFromCPU(inputs[2], lengths, 2));
    CALL(run_into("CTCLoss", params, 3, inputs, 1, &out));
    CALL(MXNDArraySyncCopyToCPU(out, losses, 2));
    EXPECT(losses[0] > 18.8282f - 0.001f && losses[0] < 18.8282f + 0.001f);
    EXPECT(losses[1] > 16.5058f - 0.001f && losses[1] < 16.5058f + 0.001f);
    return failures != 0;
}
