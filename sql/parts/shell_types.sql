
-- The types whose functions the server has: they come first

CREATE TYPE @extschema@.gp_kernel;
CREATE TYPE @extschema@.gp_graph;
CREATE TYPE @extschema@.gp_features;
CREATE TYPE @extschema@.gp_factor;
CREATE TYPE @extschema@.gp_graph_state;
