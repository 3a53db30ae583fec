/* status.exe STATUS OUTPUT ERRORS PROGRAM ARGUMENT…: runs a program for Windows, and writes the status that it ends with
 * into the file STATUS, and its two streams into OUTPUT and ERRORS; `-` leaves a stream as it is. STATUS is there, and
 * empty, from the moment on at which the program may run.
 *
 * The status that Wine itself ends with is not always the program's: on a busy machine, Wine kills a process that takes
 * over a second to end (server/process.c, start_sigkill_timer), long after the program has returned. Wine's own messages
 * go to the stream that Wine was started with, so they never mix with the program's.
 */
#include <stdio.h>
#include <windows.h>

/* Ends the word at the start of `*line`, moves `*line` to the next one, and returns the word, without its quotes. */
static WCHAR *word(WCHAR **line) {
    WCHAR *start = *line, end = ' ';
    if (*start == '"') {
        end = '"';
        start++;
    }
    WCHAR *at = start;
    while (*at && *at != end) at++;
    if (*at) *at++ = 0;
    while (*at == ' ') at++;
    *line = at;
    return start;
}

static HANDLE created(const WCHAR *path, DWORD std) {
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, std != 0};
    if (std && !wcscmp(path, L"-")) return GetStdHandle(std);
    HANDLE file = CreateFileW(path, GENERIC_WRITE, FILE_SHARE_READ, &inherited, CREATE_ALWAYS, 0, NULL);
    if (file == INVALID_HANDLE_VALUE) {
        fprintf(stderr, "status.exe: cannot create %ls: error %lu\n", path, GetLastError());
        ExitProcess(1);
    }
    return file;
}

/* Ctrl-C is for the program. */
static BOOL WINAPI goes_on(DWORD event) { return event == CTRL_C_EVENT; }

int main(void) {
    WCHAR *line = GetCommandLineW();
    word(&line);
    const WCHAR *status = word(&line), *output = word(&line), *errors = word(&line);
    SetConsoleCtrlHandler(goes_on, TRUE);
    STARTUPINFOW start = {.cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES};
    start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    start.hStdOutput = created(output, STD_OUTPUT_HANDLE);
    start.hStdError = created(errors, STD_ERROR_HANDLE);
    PROCESS_INFORMATION process;
    HANDLE file = created(status, 0);
    if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &process)) {
        fprintf(stderr, "status.exe: cannot start %ls: error %lu\n", line, GetLastError());
        CloseHandle(file);
        DeleteFileW(status);
        return 1;
    }
    DWORD code, written;
    WaitForSingleObject(process.hProcess, INFINITE);
    GetExitCodeProcess(process.hProcess, &code);
    char text[16];
    int length = sprintf(text, "%lu\n", code);
    if (!WriteFile(file, text, length, &written, NULL) || !CloseHandle(file)) return 1;
    return 0;
}
