-- Schema of memctx, version 1. Run once, by the owner, in a transaction; {vector} stands for the schema of pgvector.
--
-- A namespace belongs to a database role; row-level security admits its members. Every row carries its namespace and
-- its session, as a keyed hash of its name, so that each key may be a distribution or partition key.

CREATE TABLE memctx.namespaces (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    role regrole NOT NULL,
    secret bytea NOT NULL,
    erasures bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Heads of the logs of a session: the highest sequence numbers. A session that was erased keeps its row, without its
-- name, as a tombstone.
CREATE TABLE memctx.sessions (
    segments bigint NOT NULL DEFAULT 0,
    facts bigint NOT NULL DEFAULT 0,
    erased bigint,
    active_at timestamptz NOT NULL DEFAULT now(),
    namespace int NOT NULL,
    session uuid NOT NULL,
    name text,
    PRIMARY KEY (namespace, session)
) WITH (fillfactor = 70);
CREATE INDEX sessions_erased ON memctx.sessions (namespace, erased) WHERE erased IS NOT NULL;

-- Lines of segments.jsonl, in the order of their transactions.
CREATE TABLE memctx.segments (
    seq bigint NOT NULL,
    namespace int NOT NULL,
    session uuid NOT NULL,
    origin uuid NOT NULL,
    digest bytea NOT NULL,
    line text NOT NULL,
    PRIMARY KEY (namespace, session, seq)
);

-- Lines of knowledge.jsonl: every state of every fact.
CREATE TABLE memctx.facts (
    seq bigint NOT NULL,
    namespace int NOT NULL,
    session uuid NOT NULL,
    origin uuid NOT NULL,
    digest bytea NOT NULL,
    line text NOT NULL,
    PRIMARY KEY (namespace, session, seq),
    UNIQUE (namespace, session, digest)
);

-- One row for each segment: its key, conditions of searches, and the keyed hashes of its words. Apart from `segments`
-- because the search by words runs as the owner: the operators of arrays are not leakproof, so that under row-level
-- security no index would be used. It returns keys only.
CREATE TABLE memctx.terms (
    seq bigint NOT NULL,
    said_at double precision NOT NULL,
    namespace int NOT NULL,
    session uuid NOT NULL,
    id uuid NOT NULL,
    role text NOT NULL,
    terms bigint[] NOT NULL,
    PRIMARY KEY (namespace, session, id)
);
CREATE INDEX terms_terms ON memctx.terms USING gin (terms) WITH (gin_pending_list_limit = 1024);

CREATE TABLE memctx.files (
    version bigint NOT NULL,
    namespace int NOT NULL,
    session uuid NOT NULL,
    name text NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (namespace, session, name)
);

CREATE TABLE memctx.models (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace int NOT NULL,
    dim int NOT NULL,
    name text NOT NULL,
    revision text NOT NULL,
    UNIQUE (namespace, name, revision)
);

-- A partition for each model, with an HNSW index of its own: vectors of two namespaces never share a graph.
CREATE TABLE memctx.vectors (
    model int NOT NULL,
    namespace int NOT NULL,
    session uuid NOT NULL,
    id uuid NOT NULL,
    passage int NOT NULL,
    embedding {vector}.halfvec NOT NULL,
    PRIMARY KEY (model, namespace, session, id, passage)
) PARTITION BY LIST (model);

-- Sessions with segments that wait for extraction.
CREATE TABLE memctx.queue (
    done bigint NOT NULL,
    head bigint NOT NULL,
    queued_at timestamptz NOT NULL DEFAULT now(),
    leased_until timestamptz,
    attempts int NOT NULL DEFAULT 0,
    namespace int NOT NULL,
    session uuid NOT NULL,
    owner text,
    PRIMARY KEY (namespace, session)
) WITH (fillfactor = 70);
CREATE INDEX queue_queued_at ON memctx.queue (namespace, queued_at);


-- Row-level security. An array made by a subquery is computed once for each statement.

ALTER TABLE memctx.namespaces ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY members ON memctx.namespaces USING (pg_has_role(current_user, role, 'MEMBER'));

DO $$
DECLARE
    each text;
BEGIN
    FOREACH each IN ARRAY ARRAY['sessions', 'segments', 'facts', 'terms', 'files', 'models', 'vectors', 'queue'] LOOP
        EXECUTE format('ALTER TABLE memctx.%I ENABLE ROW LEVEL SECURITY', each);
        IF each <> 'terms' THEN
            EXECUTE format('ALTER TABLE memctx.%I FORCE ROW LEVEL SECURITY', each);
        END IF;
        EXECUTE format(
            'CREATE POLICY members ON memctx.%I USING (namespace = ANY (ARRAY('
            'SELECT id FROM memctx.namespaces WHERE pg_has_role(current_user, role, ''MEMBER''))))',
            each
        );
    END LOOP;
END
$$;


-- Functions that run as the caller.

CREATE FUNCTION memctx.lock_sessions(ns int, keys uuid[], names text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- In the order of the keys, so that two callers never wait for each other.
    INSERT INTO memctx.sessions (namespace, session, name)
    SELECT ns, given.session, given.name FROM unnest(keys, names) AS given (session, name)
    ORDER BY given.session
    ON CONFLICT DO NOTHING;
    PERFORM FROM memctx.sessions WHERE namespace = ns AND session = ANY (keys) ORDER BY session FOR UPDATE;
END
$$;

CREATE FUNCTION memctx.append_segments(
    ns int, origin_ uuid, keys uuid[], names text[], channel text, payload text,
    sessions_ uuid[], ids uuid[], digests bytea[], lines text[], roles text[], times float8[], terms_ text[]
) RETURNS int
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    added int;
BEGIN
    PERFORM memctx.lock_sessions(ns, keys, names);
    WITH given AS (
        SELECT DISTINCT ON (session, id) *
        FROM unnest(sessions_, ids, digests, lines, roles, times, terms_) WITH ORDINALITY
            AS g (session, id, digest, line, role, said_at, terms, n)
        ORDER BY session, id, n
    ), heads AS MATERIALIZED (
        SELECT session, segments FROM memctx.sessions WHERE namespace = ns AND session = ANY (keys) AND erased IS NULL
    ), fresh AS MATERIALIZED (
        SELECT g.*, h.segments + row_number() OVER (PARTITION BY g.session ORDER BY g.n) AS seq
        FROM given g
        JOIN heads h USING (session)
        -- Looked up one by one, whatever the statistics are.
        WHERE (
            SELECT t.seq FROM memctx.terms t WHERE t.namespace = ns AND t.session = g.session AND t.id = g.id LIMIT 1
        ) IS NULL
    ), ends AS MATERIALIZED (
        SELECT session, min(seq) - 1 AS before, max(seq) AS head FROM fresh GROUP BY session
    ), stored AS (
        INSERT INTO memctx.segments (namespace, session, seq, origin, digest, line)
        SELECT ns, session, seq, origin_, digest, line FROM fresh
    ), indexed AS (
        INSERT INTO memctx.terms (namespace, session, id, seq, said_at, role, terms)
        SELECT ns, session, id, seq, said_at, role, terms::bigint[] FROM fresh
    ), counted AS (
        UPDATE memctx.sessions s SET segments = ends.head, active_at = now()
        FROM ends WHERE s.namespace = ns AND s.session = ANY (keys) AND s.session = ends.session
    ), queued AS (
        INSERT INTO memctx.queue AS q (namespace, session, done, head)
        SELECT ns, session, before, head FROM ends ORDER BY session
        ON CONFLICT (namespace, session) DO UPDATE SET head = excluded.head
    )
    SELECT count(*) INTO added FROM fresh;
    IF added > 0 THEN
        PERFORM pg_notify(channel, payload);
    END IF;
    RETURN added;
END
$$;

CREATE FUNCTION memctx.append_facts(
    ns int, origin_ uuid, keys uuid[], names text[], channel text, payload text,
    sessions_ uuid[], digests bytea[], lines text[]
) RETURNS int
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    added int;
BEGIN
    PERFORM memctx.lock_sessions(ns, keys, names);
    WITH given AS (
        SELECT DISTINCT ON (session, digest) *
        FROM unnest(sessions_, digests, lines) WITH ORDINALITY AS g (session, digest, line, n)
        ORDER BY session, digest, n
    ), heads AS MATERIALIZED (
        SELECT session, facts FROM memctx.sessions WHERE namespace = ns AND session = ANY (keys) AND erased IS NULL
    ), fresh AS MATERIALIZED (
        SELECT g.*, h.facts + row_number() OVER (PARTITION BY g.session ORDER BY g.n) AS seq
        FROM given g
        JOIN heads h USING (session)
        WHERE (
            SELECT f.seq FROM memctx.facts f
            WHERE f.namespace = ns AND f.session = g.session AND f.digest = g.digest LIMIT 1
        ) IS NULL
    ), stored AS (
        INSERT INTO memctx.facts (namespace, session, seq, origin, digest, line)
        SELECT ns, session, seq, origin_, digest, line FROM fresh
    ), counted AS (
        UPDATE memctx.sessions s SET facts = ends.head, active_at = now()
        FROM (SELECT session, max(seq) AS head FROM fresh GROUP BY session) AS ends
        WHERE s.namespace = ns AND s.session = ANY (keys) AND s.session = ends.session
    )
    SELECT count(*) INTO added FROM fresh;
    IF added > 0 THEN
        PERFORM pg_notify(channel, payload);
    END IF;
    RETURN added;
END
$$;

-- Returns the new version; null on a conflict. A repeated call, after a lost reply, returns the same as the first.
CREATE FUNCTION memctx.write_file(
    ns int, key uuid, session_name text, file text, content bytea, expected bigint, channel text, payload text
) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    written bigint;
BEGIN
    IF expected = 0 THEN
        PERFORM memctx.lock_sessions(ns, ARRAY[key], ARRAY[session_name]);
    ELSE
        PERFORM FROM memctx.sessions WHERE namespace = ns AND session = key FOR UPDATE;
    END IF;
    IF EXISTS (SELECT FROM memctx.sessions WHERE namespace = ns AND session = key AND erased IS NOT NULL) THEN
        RETURN NULL;
    END IF;
    IF expected = 0 THEN
        INSERT INTO memctx.files (namespace, session, name, version, body) VALUES (ns, key, file, 1, content)
        ON CONFLICT DO NOTHING RETURNING version INTO written;
    ELSE
        UPDATE memctx.files SET version = version + 1, body = content
        WHERE namespace = ns AND session = key AND name = file AND version = expected
        RETURNING version INTO written;
    END IF;
    IF written IS NULL THEN
        SELECT version INTO written FROM memctx.files
        WHERE namespace = ns AND session = key AND name = file AND version = expected + 1 AND body = content;
    ELSE
        PERFORM pg_notify(channel, payload);
    END IF;
    RETURN written;
END
$$;

-- Vectors of segments that are there; those of others, which may be erased, are left out.
CREATE FUNCTION memctx.put_vectors(
    ns int, model_ int, keys uuid[], sessions_ uuid[], ids uuid[], passages int[], embeddings {vector}.halfvec[]
) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM memctx.sessions WHERE namespace = ns AND session = ANY (keys) ORDER BY session FOR SHARE;
    INSERT INTO memctx.vectors (model, namespace, session, id, passage, embedding)
    SELECT model_, ns, g.session, g.id, g.passage, g.embedding
    FROM unnest(sessions_, ids, passages, embeddings) AS g (session, id, passage, embedding)
    WHERE (
        SELECT t.seq FROM memctx.terms t WHERE t.namespace = ns AND t.session = g.session AND t.id = g.id LIMIT 1
    ) IS NOT NULL
    ON CONFLICT DO NOTHING;
END
$$;


-- Functions that run as the owner.

-- The role that called: the one set, or that of the login. `current_user` is the owner here.
CREATE FUNCTION memctx.is_member(ns int) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(
        (
            SELECT pg_has_role(
                CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role')::name END,
                role, 'MEMBER'
            )
            FROM memctx.namespaces WHERE id = ns
        ),
        false
    )
$$;

-- Keys of the segments that share words with a query, best first. The document frequencies are those that ANALYZE
-- found. Words are looked up rarest first, as long as they add up to at most `work` rows; those left out count for rows
-- that are found.
CREATE FUNCTION memctx.find_by_terms(
    ns int, query bigint[], topics bigint[], sessions_ uuid[], roles text[], since float8, until float8, most int, work int
) RETURNS TABLE (session uuid, id uuid, seq bigint, score float8)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    total float8;
    words bigint[];
    weights float8[];
    looked_up bigint[];
    required bigint[];
    scoring text;
    found_rows bigint;
BEGIN
    IF NOT memctx.is_member(ns) THEN
        RAISE insufficient_privilege USING MESSAGE = 'permission denied for this namespace';
    END IF;
    SELECT greatest(reltuples, 1) INTO total FROM pg_class WHERE oid = 'memctx.terms'::regclass;
    WITH common AS (
        SELECT most_common_elems::text::bigint[] AS elems, most_common_elem_freqs AS freqs
        FROM pg_stats WHERE schemaname = 'memctx' AND tablename = 'terms' AND attname = 'terms'
    ), known AS (
        SELECT k.word, k.freq FROM common, unnest(common.elems, common.freqs) AS k (word, freq)
        WHERE k.word = ANY (query)
    ), counted AS (
        SELECT q.word, greatest(
            -- ANALYZE leaves out words of fewer than about one in 300 segments, or more if there are many.
            1, total * coalesce(known.freq, (SELECT least(freqs[cardinality(elems) + 1] / 2, 0.001) FROM common), 0)
        ) AS rows
        FROM (SELECT DISTINCT unnest(query) AS word) AS q LEFT JOIN known USING (word)
    ), ordered AS (
        SELECT word, rows, sum(rows) OVER (ORDER BY rows, word) AS upto, row_number() OVER (ORDER BY rows, word) AS n
        FROM counted
    )
    SELECT array_agg(word ORDER BY n), array_agg(ln(1 + total / rows) ORDER BY n),
        array_agg(word ORDER BY n) FILTER (WHERE upto <= work),
        array_agg(word ORDER BY n) FILTER (WHERE n <= 3)
    INTO words, weights, looked_up, required
    FROM ordered;
    IF words IS NULL THEN
        RETURN;
    END IF;
    -- Numbers only, so that nothing of the query is read as SQL.
    SELECT string_agg(format('CASE WHEN %L::bigint = ANY (f.terms) THEN %s ELSE 0 END', q.word, q.weight), ' + ')
    INTO scoring FROM unnest(words[:64], weights[:64]) AS q (word, weight);
    LOOP
        RETURN QUERY EXECUTE
            'SELECT f.session, f.id, f.seq, (' || scoring || ')::float8 AS score
            FROM (
                SELECT * FROM memctx.terms t
                WHERE t.namespace = $1
                    AND ' || CASE WHEN looked_up IS NULL THEN 't.terms @> $3' ELSE 't.terms && $2' END || '
                    AND ($4 IS NULL OR t.terms && $4)
                    AND ($5 IS NULL OR t.session = ANY ($5))
                    AND ($6 IS NULL OR t.role = ANY ($6))
                    AND ($7 IS NULL OR t.said_at >= $7)
                    AND ($8 IS NULL OR t.said_at <= $8)
                LIMIT $9
            ) AS f
            ORDER BY score DESC, f.said_at DESC, f.id
            LIMIT $10'
        USING ns, looked_up, required, topics, sessions_, roles, since, until, work, most;
        GET DIAGNOSTICS found_rows = ROW_COUNT;
        EXIT WHEN found_rows > 0 OR looked_up IS NOT NULL OR cardinality(required) = 1;
        -- Every word is common, and no segment has these together.
        required := required[:cardinality(required) - 1];
    END LOOP;
END
$$;

-- Returns the id of a model; the first call makes the partition of its vectors and their index.
CREATE FUNCTION memctx.register_model(ns int, model_name text, model_revision text, dimensions int) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    model memctx.models;
BEGIN
    IF NOT memctx.is_member(ns) THEN
        RAISE insufficient_privilege USING MESSAGE = 'permission denied for this namespace';
    END IF;
    PERFORM FROM memctx.namespaces WHERE id = ns FOR UPDATE;
    SELECT * INTO model FROM memctx.models WHERE namespace = ns AND name = model_name AND revision = model_revision;
    IF model.id IS NOT NULL THEN
        IF model.dim <> dimensions THEN
            RAISE invalid_parameter_value USING MESSAGE = 'the model has vectors of ' || model.dim || ' dimensions';
        END IF;
        RETURN model.id;
    END IF;
    INSERT INTO memctx.models (namespace, name, revision, dim) VALUES (ns, model_name, model_revision, dimensions)
    RETURNING * INTO model;
    EXECUTE format('CREATE TABLE memctx.%I (LIKE memctx.vectors INCLUDING ALL)', 'vectors_' || model.id);
    EXECUTE format(
        'CREATE INDEX %I ON memctx.%I USING hnsw ((embedding::{vector}.halfvec(%s)) {vector}.halfvec_cosine_ops)',
        'vectors_' || model.id || '_hnsw', 'vectors_' || model.id, dimensions
    );
    EXECUTE format('ALTER TABLE memctx.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', 'vectors_' || model.id);
    EXECUTE format(
        'ALTER TABLE memctx.vectors ATTACH PARTITION memctx.%I FOR VALUES IN (%s)', 'vectors_' || model.id, model.id
    );
    RETURN model.id;
END
$$;

-- Deletes a session and leaves its tombstone. Returns the numbers of deleted rows.
CREATE FUNCTION memctx.erase_session(
    ns int, key uuid, channel text, payload text,
    OUT segments bigint, OUT facts bigint, OUT files bigint, OUT vectors bigint, OUT number bigint
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT memctx.is_member(ns) THEN
        RAISE insufficient_privilege USING MESSAGE = 'permission denied for this namespace';
    END IF;
    PERFORM memctx.lock_sessions(ns, ARRAY[key], ARRAY[NULL::text]);
    DELETE FROM memctx.vectors t WHERE t.namespace = ns AND t.session = key;
    GET DIAGNOSTICS vectors = ROW_COUNT;
    DELETE FROM memctx.terms t WHERE t.namespace = ns AND t.session = key;
    DELETE FROM memctx.segments t WHERE t.namespace = ns AND t.session = key;
    GET DIAGNOSTICS segments = ROW_COUNT;
    DELETE FROM memctx.facts t WHERE t.namespace = ns AND t.session = key;
    GET DIAGNOSTICS facts = ROW_COUNT;
    DELETE FROM memctx.files t WHERE t.namespace = ns AND t.session = key;
    GET DIAGNOSTICS files = ROW_COUNT;
    DELETE FROM memctx.queue t WHERE t.namespace = ns AND t.session = key;
    SELECT s.erased INTO number FROM memctx.sessions s WHERE s.namespace = ns AND s.session = key;
    IF number IS NULL THEN
        -- The row of the namespace is locked until the end, so that numbers follow the order of commits.
        UPDATE memctx.namespaces n SET erasures = n.erasures + 1 WHERE n.id = ns RETURNING n.erasures INTO number;
        UPDATE memctx.sessions s SET name = NULL, erased = number, segments = 0, facts = 0, active_at = now()
        WHERE s.namespace = ns AND s.session = key;
    END IF;
    PERFORM pg_notify(channel, payload);
END
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA memctx FROM PUBLIC;
