-- The type gp_kernel
\set VERBOSITY default
\pset format unaligned
\pset tuples_only on

-- Presets and their formulas are one kernel
SELECT text, text::gp_kernel AS kernel, text::gp_kernel = preset AS equal
FROM (VALUES
    ('A*relu(X)*W + b', 'gcn'::gp_kernel),
    ('b + A*relu(X)*W', 'GCN(layers=2)'),
    ('relu(A*relu(X)*W + b)*W + b', 'gin'),
    ('((1-alpha)*A*relu(X) + alpha*X0)*((1-beta)*I + beta*W), alpha=0.1, beta=ln(0.5/l+1)', 'gcnii'),
    ('relu(X)*W1 + A*relu(X)*W2, norm=row, sigma_w1=0.1', 'sage'),
    ('P(0.1)*relu(X0*W)*W', 'appnp'),
    ('A*X0, input=poly(c=5, d=3), norm=row', 'ggp'),
    ('X0, input=rbf(gamma=0.1)', 'rbf'),
    ('X0, input=laplacian(d=3, walks=80, choice=uniform)', 'laplacian(d=3)'),
    ('relu(X)*W + b', 'mlp')) AS v(text, preset);

-- Other spellings are equal, too: the programs are compared
SELECT a::gp_kernel, b::gp_kernel, a::gp_kernel = b::gp_kernel AS equal
FROM (VALUES
    ('P(0.2)*relu(X0*W)*W', 'appnp(alpha=0.2)'),
    ('(0.7*A + 0.3*I)^2*relu(X)*W', '(0.49*A^2 + 0.42*A + 0.09*I)*relu(X)*W'),
    ('X0*W1 + N*W2, sigma_w1=k, k=1+1', '2*X0*W + N'),
    ('gcn(power=auto)', 'gcn'),
    ('gcn(power=1)', 'gcn')) AS v(a, b);

-- Options that are not at their defaults
SELECT gp_kernel 'gcn(layers=3, sigma_b=0.3162)' AS a, gp_kernel 'gcnii, alpha=0.2, layers=1+2' AS b,
    gp_kernel 'A*relu(X)*W + b, sigma_b=0.1, input=rbf(gamma=2), norm=row' AS c,
    gp_kernel '(0.5*A + 0.5*I)^2*relu(X)*W' AS d, gp_kernel '0.5*A*relu(X)*W + X0*W, layers=3' AS e;

-- Kernels of the graph alone: words among the numbers, defaults left out
SELECT gp_kernel 'laplacian(d=auto, choice=Weighted, dims=100)' AS a, gp_kernel 'gcn(input=laplacian(d=2))' AS b,
    gp_kernel 'appnp(input=laplacian(sigma2=s, trim=projection), s=1/2)' AS c;

-- Errors point at the character
SELECT gp_kernel 'A*relu(X)*W, power=3/2' AS a, gp_kernel 'gcn(power=1)' AS b,
       gp_kernel 'unit(2*N)*W + X0*W, input=cosine' AS c, gp_kernel 'profile' AS d, gp_kernel 'sage2(layers=3)' AS e;
SELECT gp_kernel 'gnc';
SELECT gp_kernel 'A**X';
SELECT gp_kernel 'A*relu(X) + relu(X)';
SELECT gp_kernel 'gcn(layer=3)';
SELECT gp_kernel 'gcn(sigma_b=ln(0))';
SELECT gp_kernel 'gcn(layers=33)';
SELECT gp_kernel 'gcn(power=0.5)';
SELECT gp_kernel 'N + A*N';
SELECT gp_kernel 'laplacian(walks=0)';
SELECT gp_kernel 'X0, input=laplacian(choice=random)';
SELECT gp_kernel '';
\set VERBOSITY sqlstate
SELECT gp_kernel 'A**X';
SELECT gp_kernel 'gcn(layers=33)';
SELECT repeat('(', 4000)::gp_kernel;
SELECT repeat(' ', 5000)::gp_kernel;
\set VERBOSITY default

-- Text becomes a kernel by itself, also in arrays
SELECT ARRAY['gcn', 'A*relu(X)*W', 'gin(layers=2)']::gp_kernel[];
SELECT 'gcn'::varchar::gp_kernel = 'gcn' AS cast, gnngp_internal.gp_kernel_eq('gcn'::varchar(10), 'gcn') AS implicit;
SELECT ARRAY['gcn'::varchar, 'gin']::gp_kernel[], 'gcn'::varchar = 'gcn'::varchar AS as_before;
CREATE FUNCTION pg_temp.describe(VARIADIC gp_kernel[]) RETURNS text LANGUAGE sql AS 'SELECT $1::text';
SELECT pg_temp.describe('gcn', text 'A*relu(X)*W', 'mlp');

-- Tables, indexes, grouping, joins
CREATE TEMP TABLE kernels (id integer, kernel gp_kernel);
INSERT INTO kernels VALUES (1, 'gcn'), (2, 'A*relu(X)*W'), (3, 'gin'), (4, 'gcn(sigma_b=0.1)'), (5, NULL);
CREATE INDEX ON kernels (kernel);
CREATE INDEX ON kernels USING hash (kernel);
SELECT kernel, count(*) FROM kernels GROUP BY kernel ORDER BY kernel;
SELECT id FROM kernels WHERE kernel = 'A*relu(X)*W + b' ORDER BY id;
SELECT id FROM kernels WHERE kernel <> text 'gcn' ORDER BY id;
SELECT id FROM kernels WHERE kernel > 'gcn' AND kernel <= 'gin' ORDER BY id;
CREATE TEMP TABLE one_of_each (kernel gp_kernel UNIQUE);
INSERT INTO one_of_each VALUES ('appnp(alpha=0.2)'), ('P(0.2)*relu(X0*W)*W');
SELECT a.id, b.id FROM kernels a JOIN kernels b ON a.kernel = b.kernel AND a.id < b.id;
CREATE TEMP TABLE parts (kernel gp_kernel) PARTITION BY HASH (kernel);
CREATE TEMP TABLE part0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TEMP TABLE part1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts SELECT kernel FROM kernels WHERE kernel IS NOT NULL;
SELECT count(*) FROM parts WHERE kernel = 'gcn';

-- The binary form is text, and it is read with the same care
SELECT gnngp_internal.gp_kernel_send('gcn(layers=3)'), octet_length(gnngp_internal.gp_kernel_send('b + A*relu(X)*W'));
SELECT amname, opcname, opcdefault FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
WHERE opcintype = 'gp_kernel'::regtype AND amvalidate(c.oid) ORDER BY amname;
