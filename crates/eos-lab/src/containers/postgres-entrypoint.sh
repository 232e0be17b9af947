#!/bin/sh
# Starts PostgreSQL as the official image does, as far as the recipe postgres asks for it: any other program is run as it
# is, flags alone are those of the server. The first start makes the data directory with the account and its database,
# all or nothing: one that was interrupted begins anew.
set -eu
case ${1:--} in
-*) ;;
postgres) shift ;;
*) exec "$@" ;;
esac
: "${PGDATA:?}" "${POSTGRES_PASSWORD_FILE:?}"
: "${POSTGRES_USER:=postgres}"
: "${POSTGRES_DB:=$POSTGRES_USER}"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    unfinished=$PGDATA.unfinished
    rm -rf "$unfinished"
    initdb --pgdata="$unfinished" --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" \
        --encoding=UTF8 --no-locale --auth-local=trust --auth-host=scram-sha-256
    echo "host all all all scram-sha-256" >>"$unfinished/pg_hba.conf"
    if [ "$POSTGRES_DB" != postgres ]; then
        echo "CREATE DATABASE \"$POSTGRES_DB\"" | postgres --single -j -D "$unfinished" postgres
    fi
    mv "$unfinished" "$PGDATA"
fi
exec postgres -D "$PGDATA" -c listen_addresses='*' "$@"
