#!/bin/sh
# check_unsupported.sh CC: a system that is none of those of capi/base/system/system.h stops the
# compiler with one error, which says what is needed; with -DMXL_BARE=1 it does not.
cc=$1 file=capi/base/system/system.h
said=$($cc -x c -std=c17 -E -o /dev/null -U__unix__ -U__APPLE__ -U_WIN32 -Icapi $file 2>&1)
if [ $? -eq 0 ] || [ "$(printf '%s\n' "$said" | grep -c 'error:')" -ne 1 ] ||
    ! printf '%s\n' "$said" | grep -q 'needs POSIX'; then
    printf 'check_unsupported: there should be one error, that says what is needed:\n%s\n' "$said" >&2
    exit 1
fi
$cc -x c -std=c17 -E -o /dev/null -U__unix__ -U__APPLE__ -U_WIN32 -DMXL_BARE=1 -Icapi $file >/dev/null || exit 1
echo "check_unsupported: one error, which says what is needed"
