-- Drops everything that users have made in this database, so that what is loaded next is all there is. It is part of
-- one transaction with that: should anything fail, nothing was dropped. What belongs to an extension stays.
DO $clear$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT format('DROP %s IF EXISTS %I.%I CASCADE',
                   CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE'
                       WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, n.nspname, c.relname) AS drop
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
            AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                AND d.deptype = 'e')
    LOOP
        EXECUTE found.drop;
    END LOOP;
    FOR found IN
        SELECT p.oid::regprocedure::text AS name FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
            AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                AND d.deptype = 'e')
    LOOP
        IF to_regprocedure(found.name) IS NOT NULL THEN
            EXECUTE 'DROP ROUTINE IF EXISTS ' || found.name || ' CASCADE';
        END IF;
    END LOOP;
    FOR found IN
        SELECT t.oid::regtype::text AS name FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
        WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
            AND (t.typtype IN ('e', 'd', 'r')
                OR (t.typtype = 'c' AND EXISTS (SELECT 1 FROM pg_class c WHERE c.oid = t.typrelid AND c.relkind = 'c')))
            AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid
                AND d.deptype = 'e')
    LOOP
        EXECUTE 'DROP TYPE IF EXISTS ' || found.name || ' CASCADE';
    END LOOP;
    FOR found IN
        SELECT n.nspname AS name FROM pg_namespace n
        WHERE n.nspname !~ '^pg_' AND n.nspname NOT IN ('information_schema', 'public')
            AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_namespace'::regclass AND d.objid = n.oid
                AND d.deptype = 'e')
            AND NOT EXISTS (SELECT 1 FROM pg_extension e WHERE e.extnamespace = n.oid)
    LOOP
        EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE', found.name);
    END LOOP;
    PERFORM lo_unlink(oid) FROM pg_largeobject_metadata;
END
$clear$;
