\echo Use "CREATE EXTENSION gnngp" to load this file. \quit
