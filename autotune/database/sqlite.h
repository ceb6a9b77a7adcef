#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "runtime/user_error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace normforge {

// The message names the file and ends with SQLite's own words, where it had any.
class DatabaseError : public UserError {
public:
    DatabaseError(const std::string &path, const std::string &what);
};

// Another process holds the file's lock.
class DatabaseBusy : public DatabaseError {
    using DatabaseError::DatabaseError;
};

// A thin layer over SQLite's C interface. Every call throws DatabaseError where SQLite reports an error; one that
// finds the file locked by another process waits up to 10 s first.
class SqliteConnection {
public:
    enum class Mode {
        read_write,  // creates a missing file
        read_only,
        immutable,  // read_only of a file that nobody changes meanwhile
    };
    SqliteConnection(const std::string &path, Mode mode);

    // A copy in memory, to be changed at will, whose errors name the same file.
    SqliteConnection copy_in_memory() const;

    // A database file's bytes, for reading, which must outlive it. Errors name it so.
    static SqliteConnection of_bytes(const std::string &name, std::string_view bytes);

    // Runs statements that have neither parameters nor results of interest.
    void execute(const std::string &sql);

    // The first value of the first row; for pragmas.
    int64_t query_integer(const std::string &sql) const;
    std::string query_text(const std::string &sql) const;

    int64_t last_insert_id() const;
    int64_t changed_rows() const;  // by the statement before

    // Whether closing may write what is left in the write-ahead log to the file; true at first.
    void set_checkpoint_on_close(bool enabled);

    bool is_writable() const;  // not once moved from
    const std::string &path() const { return path_; }
    sqlite3 *handle() const { return handle_.get(); }

    // Throws DatabaseBusy or DatabaseError with SQLite's last message.
    [[noreturn]] void fail() const;

private:
    struct Close {
        void operator()(sqlite3 *handle) const;
    };
    SqliteConnection(const std::string &path, const std::string &name, int flags);

    std::string path_;
    std::unique_ptr<sqlite3, Close> handle_;
};

// A null is std::monostate.
using SqliteValue = std::variant<std::monostate, int64_t, double, std::string>;

// Must not outlive its connection. Values reach SQL only through bind.
class SqliteStatement {
public:
    SqliteStatement(const SqliteConnection &connection, const std::string &sql);

    // Each call gives the next parameter its value, from the first one on. NaN is stored as null.
    SqliteStatement &bind(std::integral auto value) { return bind_integer(value); }
    SqliteStatement &bind(double value);
    SqliteStatement &bind(std::string_view text);
    SqliteStatement &bind(std::monostate null);
    SqliteStatement &bind_value(const SqliteValue &value);

    // Goes to the next row; false after the last.
    bool step();

    // Runs a statement without rows and makes it ready to be bound again.
    void run();
    void reset();

    // The columns of the current row, from 0. A null is 0, NaN or the empty text.
    int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;
    bool is_null(int column) const;
    SqliteValue value(int column) const;

private:
    SqliteStatement &bind_integer(int64_t value);
    void check(int result) const;

    struct Finalize {
        void operator()(sqlite3_stmt *handle) const;
    };
    const SqliteConnection &connection_;
    std::unique_ptr<sqlite3_stmt, Finalize> handle_;
    int bound_ = 0;
};

// One for writing takes the write lock at once, so that what is read inside still holds when it is written. Rolled
// back unless committed.
class SqliteTransaction {
public:
    enum class Kind { writing, reading };
    explicit SqliteTransaction(SqliteConnection &connection, Kind kind = Kind::writing);
    ~SqliteTransaction();
    SqliteTransaction(const SqliteTransaction &) = delete;
    SqliteTransaction &operator=(const SqliteTransaction &) = delete;

    void commit();

private:
    SqliteConnection &connection_;
    bool open_ = true;
};

}  // namespace normforge
