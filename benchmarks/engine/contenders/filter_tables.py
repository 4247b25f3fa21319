"""The tables of MDV's filter (its section 3.3.4), and the joins over them (section 3.4), as SQLite reads them.

`metadata` is what all documents state now, `atom` (the paper's FilterData) is what goes in or out with a batch,
`rule_*` are FilterRules and FilterRulesOP, `dependency` is RuleDependencies with the rule group of a join rule as its
property (empty for `a = b`), `result` is the materialised result of every atomic rule, `delta` is ResultObjects.
"""

from __future__ import annotations

TABLES = """
create table metadata (resource text, property text, value text, kind text, document text,
    primary key (resource, property, value, document)) without rowid;
create index metadata_by_value on metadata (value, property, resource);
create index metadata_by_document on metadata (document);
create table rule_any (kind text, rule integer, primary key (kind, rule)) without rowid;
create table rule_equal (property text, value text, kind text, rule integer,
    primary key (property, value, kind, rule)) without rowid;
create table rule_greater (property text, kind text, value integer, rule integer,
    primary key (property, kind, value, rule)) without rowid;
create table rule_contains (property text, kind text, value text, rule integer,
    primary key (property, kind, value, rule)) without rowid;
create table rule_is_a (property text, value text, kind text, rule integer,
    primary key (property, value, kind, rule)) without rowid;
create table broader (value text, above text, primary key (value, above)) without rowid;
create table dependency (left_rule integer, right_rule integer, property text, target integer,
    primary key (left_rule, right_rule, property)) without rowid;
create index dependency_by_target on dependency (target);
create table source (rule integer primary key);
create table link (property text primary key) without rowid;
create table subscriber (rule integer, subscription integer, primary key (rule, subscription)) without rowid;
create table result (resource text, rule integer, primary key (resource, rule)) without rowid;
create index result_by_rule on result (rule);
create temp table atom (resource text, property text, value text, kind text);
create temp table changed (document text primary key);
create temp table delta (resource text, rule integer, primary key (resource, rule)) without rowid;
create temp table found (resource text, rule integer, primary key (resource, rule)) without rowid;
create temp table lost (resource text, rule integer, primary key (resource, rule)) without rowid;
create temp table fresh (resource text, rule integer, primary key (resource, rule)) without rowid;
"""

TRIGGERED = """
insert or ignore into found
select a.resource, r.rule from atom a cross join rule_any r on r.kind = a.kind where a.property = 'rdf#subject'
union all select a.resource, r.rule from atom a
    cross join rule_equal r on r.property = a.property and r.value = a.value and r.kind = a.kind
union all select a.resource, r.rule from atom a
    cross join rule_greater r on r.property = a.property and r.kind = a.kind and r.value < cast(a.value as integer)
union all select a.resource, r.rule from atom a
    cross join rule_contains r on r.property = a.property and r.kind = a.kind and instr(a.value, r.value)
union all select a.resource, r.rule from atom a cross join broader b on b.value = a.value
    cross join rule_is_a r on r.property = a.property and r.value = b.above and r.kind = a.kind
"""
"""The triggering rules that the atoms affect."""

JOINED = """
insert or ignore into found
select d.resource, j.target from delta d cross join result r on r.resource = d.resource
    cross join dependency j on j.left_rule = d.rule and j.right_rule = r.rule and j.property = ''
union all select d.resource, j.target from delta d cross join result r on r.resource = d.resource
    cross join dependency j on j.left_rule = r.rule and j.right_rule = d.rule and j.property = ''
union all select d.resource, j.target from delta d
    cross join link k cross join metadata m on m.resource = d.resource and m.property = k.property
    cross join result r on r.resource = m.value
    cross join dependency j on j.left_rule = d.rule and j.right_rule = r.rule and j.property = m.property
union all select m.resource, j.target from delta d
    cross join link k cross join metadata m on m.value = d.resource and m.property = k.property
    cross join result l on l.resource = m.resource
    cross join dependency j on j.left_rule = l.rule and j.right_rule = d.rule and j.property = m.property
"""
"""The join rules that depend on what was found last, evaluated by group, with the materialised results."""

SURVIVING = """
insert or ignore into found
select l.resource, l.rule from lost l cross join dependency j on j.target = l.rule
    cross join result a on a.resource = l.resource and a.rule = j.left_rule
where case when j.property = '' then
    exists (select 1 from result b where b.resource = l.resource and b.rule = j.right_rule)
else
    exists (select 1 from metadata m cross join result b on b.resource = m.value and b.rule = j.right_rule
        where m.resource = l.resource and m.property = j.property)
end
"""
"""Candidates of join rules that still hold without what was taken away."""

MATCHED = """
select s.subscription, f.resource from fresh f cross join subscriber s on s.rule = f.rule
where not exists (select 1 from lost l where l.resource = f.resource and l.rule = f.rule)
"""
UNMATCHED = """
select s.subscription, l.resource from lost l cross join subscriber s on s.rule = l.rule
where not exists (select 1 from result r where r.resource = l.resource and r.rule = l.rule)
"""
