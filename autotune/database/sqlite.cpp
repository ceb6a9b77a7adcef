#include "autotune/database/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <limits>

namespace normforge {

namespace {

// In which ? # and % would end the name.
std::string immutable_uri(const std::string &path) {
    std::string uri = "file:";
    for (const char c : path) {
        uri += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02x}", c) : std::string(1, c);
    }
    return uri + "?immutable=1";
}

}  // namespace

DatabaseError::DatabaseError(const std::string &path, const std::string &what)
    : UserError(fmt::format("tuning database '{}': {}", path, what)) {}

void SqliteConnection::Close::operator()(sqlite3 *handle) const {
    sqlite3_close_v2(handle);
}

SqliteConnection::SqliteConnection(const std::string &path, const std::string &name, int flags) : path_(path) {
    sqlite3 *handle = nullptr;
    const int result = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
    handle_.reset(handle);
    if (result != SQLITE_OK) {
        throw DatabaseError(path, sqlite3_errstr(result));
    }
    sqlite3_busy_timeout(handle, 10'000);
}

SqliteConnection::SqliteConnection(const std::string &path, Mode mode)
    : SqliteConnection(path, mode == Mode::immutable ? immutable_uri(path) : path,
                       mode == Mode::read_write  ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                       : mode == Mode::immutable ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
                                                 : SQLITE_OPEN_READONLY) {
    // SQLite opens a file that it may not write read-only without a word, and fails only at the first write.
    if (mode == Mode::read_write && !is_writable()) {
        throw DatabaseError(path, "no permission to write the file");
    }
}

SqliteConnection SqliteConnection::copy_in_memory() const {
    SqliteConnection copy(path_, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    sqlite3_backup *backup = sqlite3_backup_init(copy.handle(), "main", handle(), "main");
    if (!backup) {
        copy.fail();
    }
    const int result = sqlite3_backup_step(backup, -1);
    sqlite3_backup_finish(backup);
    if (result != SQLITE_DONE) {
        throw DatabaseError(path_, sqlite3_errstr(result));
    }
    return copy;
}

SqliteConnection SqliteConnection::of_bytes(const std::string &name, std::string_view bytes) {
    SqliteConnection connection(name, ":memory:", SQLITE_OPEN_READWRITE);
    auto *begin = reinterpret_cast<unsigned char *>(const_cast<char *>(bytes.data()));  // which is not written
    const auto size = static_cast<sqlite3_int64>(bytes.size());
    if (sqlite3_deserialize(connection.handle(), "main", begin, size, size, SQLITE_DESERIALIZE_READONLY) !=
        SQLITE_OK) {
        connection.fail();
    }
    return connection;
}

void SqliteConnection::execute(const std::string &sql) {
    if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        fail();
    }
}

int64_t SqliteConnection::query_integer(const std::string &sql) const {
    SqliteStatement statement(*this, sql);
    statement.step();
    return statement.integer(0);
}

std::string SqliteConnection::query_text(const std::string &sql) const {
    SqliteStatement statement(*this, sql);
    statement.step();
    return statement.text(0);
}

int64_t SqliteConnection::last_insert_id() const {
    return sqlite3_last_insert_rowid(handle());
}

int64_t SqliteConnection::changed_rows() const {
    return sqlite3_changes(handle());
}

void SqliteConnection::set_checkpoint_on_close(bool enabled) {
    sqlite3_db_config(handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, enabled ? 0 : 1, nullptr);
}

bool SqliteConnection::is_writable() const {
    return handle_ && sqlite3_db_readonly(handle(), "main") == 0;
}

void SqliteConnection::fail() const {
    if (sqlite3_errcode(handle()) == SQLITE_BUSY) {
        throw DatabaseBusy(path_, sqlite3_errmsg(handle()));
    }
    throw DatabaseError(path_, sqlite3_errmsg(handle()));
}

void SqliteStatement::Finalize::operator()(sqlite3_stmt *handle) const {
    sqlite3_finalize(handle);
}

SqliteStatement::SqliteStatement(const SqliteConnection &connection, const std::string &sql)
    : connection_(connection) {
    sqlite3_stmt *handle = nullptr;
    const int result = sqlite3_prepare_v2(connection.handle(), sql.c_str(), -1, &handle, nullptr);
    handle_.reset(handle);
    check(result);
}

SqliteStatement &SqliteStatement::bind_integer(int64_t value) {
    check(sqlite3_bind_int64(handle_.get(), ++bound_, value));
    return *this;
}

SqliteStatement &SqliteStatement::bind(double value) {
    check(sqlite3_bind_double(handle_.get(), ++bound_, value));
    return *this;
}

SqliteStatement &SqliteStatement::bind(std::string_view text) {
    // A null pointer, as an empty view may have, would bind null.
    const char *begin = text.empty() ? "" : text.data();
    check(sqlite3_bind_text64(handle_.get(), ++bound_, begin, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
    return *this;
}

SqliteStatement &SqliteStatement::bind(std::monostate) {
    check(sqlite3_bind_null(handle_.get(), ++bound_));
    return *this;
}

SqliteStatement &SqliteStatement::bind_value(const SqliteValue &value) {
    return std::visit([this](const auto &held) -> SqliteStatement & { return bind(held); }, value);
}

bool SqliteStatement::step() {
    const int result = sqlite3_step(handle_.get());
    if (result != SQLITE_ROW && result != SQLITE_DONE) {
        connection_.fail();
    }
    return result == SQLITE_ROW;
}

void SqliteStatement::run() {
    step();
    reset();
}

void SqliteStatement::reset() {
    check(sqlite3_reset(handle_.get()));
    bound_ = 0;
}

int64_t SqliteStatement::integer(int column) const {
    return sqlite3_column_int64(handle_.get(), column);
}

double SqliteStatement::real(int column) const {
    return is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                           : sqlite3_column_double(handle_.get(), column);
}

std::string SqliteStatement::text(int column) const {
    const auto *begin = reinterpret_cast<const char *>(sqlite3_column_text(handle_.get(), column));
    return begin ? std::string(begin, static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column))) : "";
}

bool SqliteStatement::is_null(int column) const {
    return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

SqliteValue SqliteStatement::value(int column) const {
    switch (sqlite3_column_type(handle_.get(), column)) {
    case SQLITE_NULL:
        return {};
    case SQLITE_INTEGER:
        return integer(column);
    case SQLITE_FLOAT:
        return real(column);
    default:
        return text(column);
    }
}

void SqliteStatement::check(int result) const {
    if (result != SQLITE_OK) {
        connection_.fail();
    }
}

SqliteTransaction::SqliteTransaction(SqliteConnection &connection, Kind kind) : connection_(connection) {
    connection_.execute(kind == Kind::writing ? "BEGIN IMMEDIATE" : "BEGIN");
}

SqliteTransaction::~SqliteTransaction() {
    if (open_) {
        // An error here means that SQLite rolled back by itself.
        sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    }
}

void SqliteTransaction::commit() {
    connection_.execute("COMMIT");
    open_ = false;
}

}  // namespace normforge
