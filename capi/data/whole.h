/* Calls that a forked process must find whole: done, or not begun. fork waits for those that run,
 * and none begins meanwhile. So locks that such a call holds are free in the child, and what it
 * changes is as another call expects it. Called by api/data; a call must not wait for another
 * process or for a caller's function, and must not contain another one. */
#ifndef MXL_DATA_WHOLE_H
#define MXL_DATA_WHOLE_H

void mxl_whole_begin(void);
void mxl_whole_end(void);

#endif
