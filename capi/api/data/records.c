/* Files of records: MXRecordIO*. A handle is of a reader or of a writer. */
#include "api/common.h"
#include "data/whole.h"
#include "data/record.h"

static int create(const char *function, const char *uri, bool writing, RecordIOHandle *out)
{
    mxl_record_file *file = mxl_record_open(uri, writing);
    uint64_t handle = file != NULL ? mxl_handle_new(MXL_KIND_RECORD, &file->ref) : 0;

    if (handle == 0) {
        if (file != NULL)
            mxl_ref_release(&file->ref);
        return mxl_error_prefix(function);
    }
    *out = (RecordIOHandle)(uintptr_t)handle;
    return 0;
}

/* Begins a call, which a forked process finds whole, of a reader or a writer; NULL with the error
 * set. */
static mxl_record_file *pin(const char *function, const void *handle, bool writing)
{
    mxl_record_file *file;

    mxl_whole_begin();
    file = (mxl_record_file *)mxl_handle_pin(MXL_KIND_RECORD, api_number(handle));
    if (file == NULL) {
        mxl_whole_end();
        mxl_error_put_before(function);
    } else if (file->writing != writing) {
        api_unpin(handle);
        mxl_whole_end();
        return mxl_error_null("%s: a %s was expected, the handle is of a %s", function,
                              writing ? "writer" : "reader", writing ? "reader" : "writer");
    }
    return file;
}

/* Ends a call that pinned a file. */
static int finish(const char *function, const void *handle, int status)
{
    api_unpin(handle);
    mxl_whole_end();
    return status == 0 ? 0 : mxl_error_prefix(function);
}

static int release(const char *function, void *handle, bool writing)
{
    mxl_record_file *file;
    int status;

    if (handle == NULL)
        return 0;
    file = pin(function, handle, writing);
    if (file == NULL)
        return -1;
    status = finish(function, handle, writing ? mxl_record_close(file) : 0);
    if (mxl_handle_free(MXL_KIND_RECORD, api_number(handle)) != 0 && status == 0)
        status = mxl_error_prefix(function);
    return status;
}

static int tell(const char *function, const void *handle, bool writing, size_t *pos)
{
    mxl_record_file *file;

    if (pos == NULL)
        return api_null(function, "pos");
    file = pin(function, handle, writing);
    if (file == NULL)
        return -1;
    *pos = mxl_record_tell(file);
    return finish(function, handle, 0);
}

/* ---- writing ---- */

int MXRecordIOWriterCreate(const char *uri, RecordIOHandle *out)
{
    API_NEED(uri);
    API_NEED(out);
    return create(__func__, uri, true, out);
}

int MXRecordIOWriterFree(RecordIOHandle handle)
{
    return release(__func__, handle, true);
}

int MXRecordIOWriterWriteRecord(RecordIOHandle handle, const char *buf, size_t size)
{
    mxl_record_file *writer;

    if (size > 0)
        API_NEED(buf);
    writer = pin(__func__, handle, true);
    if (writer == NULL)
        return -1;
    return finish(__func__, handle, mxl_record_write(writer, buf, size));
}

int MXRecordIOWriterTell(RecordIOHandle handle, size_t *pos)
{
    return tell(__func__, handle, true, pos);
}

/* ---- reading ---- */

int MXRecordIOReaderCreate(const char *uri, RecordIOHandle *out)
{
    API_NEED(uri);
    API_NEED(out);
    return create(__func__, uri, false, out);
}

int MXRecordIOReaderFree(RecordIOHandle handle)
{
    return release(__func__, handle, false);
}

int MXRecordIOReaderReadRecord(RecordIOHandle handle, const char **buf, size_t *size)
{
    mxl_record_file *reader;

    API_NEED(buf);
    API_NEED(size);
    reader = pin(__func__, handle, false);
    if (reader == NULL)
        return -1;
    return finish(__func__, handle, mxl_record_read(reader, buf, size));
}

int MXRecordIOReaderSeek(RecordIOHandle handle, size_t pos)
{
    mxl_record_file *reader = pin(__func__, handle, false);

    if (reader == NULL)
        return -1;
    return finish(__func__, handle, mxl_record_seek(reader, pos));
}

int MXRecordIOReaderTell(RecordIOHandle handle, size_t *pos)
{
    return tell(__func__, handle, false, pos);
}
