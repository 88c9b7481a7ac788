"""This file is how Alembic runs our migrations: on the connection, and in the transaction, that it is given."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, transactional_ddl=True)
context.run_migrations()
