-- Queries on tables of `weigh --as parquet --details`, of one tree or of many hosts and dates, in a dialect that both
-- Spark SQL and DuckDB can run. Each needs a view called `entries`:
--
--   Spark:   CREATE TEMPORARY VIEW entries USING parquet OPTIONS (path '/tables/*', recursiveFileLookup 'true');
--   DuckDB:  CREATE VIEW entries AS FROM read_parquet('/tables/*/*.parquet');
--
-- An inode has a row for each of its links, and a directory above the split of a tree has a row for each share. `own`
-- is the weight to add up, once for each inode.

-- name: inodes
-- Each inode once for each scan, with its own weight, owner and age.
CREATE OR REPLACE TEMPORARY VIEW inodes AS
SELECT host, date_trunc('day', time) AS day, device, inode,
       min(path) AS path, min(name) AS name, min(kind) AS kind, max(own) AS own,
       min(owner) AS owner, max(modified) AS modified, max(time) AS time
FROM entries WHERE own IS NOT NULL
GROUP BY host, date_trunc('day', time), device, inode;

-- name: totals
-- The total of each scan: the size of the root in `weigh -j`.
SELECT host, day, sum(own) AS size, count(*) AS entries
FROM inodes GROUP BY host, day ORDER BY host, day;

-- name: tops
-- The total of each directory in the root, as in `weigh -j -d 1`. Each inode counts once in each of them.
SELECT top, sum(own) AS size
FROM (SELECT host, date_trunc('day', time) AS day, device, inode, max(own) AS own,
             split_part(substr(path, length(root) + 2), '/', 1) AS top
      FROM entries CROSS JOIN (SELECT min(path) AS root FROM entries WHERE depth = 0)
      WHERE own IS NOT NULL AND depth > 0
      GROUP BY host, date_trunc('day', time), device, inode,
               split_part(substr(path, length(root) + 2), '/', 1))
GROUP BY top ORDER BY size DESC, top;

-- name: owners
-- How much each owner has on each host, in the last scan of the host.
SELECT host, owner, sum(own) AS size, count(*) AS entries
FROM inodes JOIN (SELECT host, max(day) AS day FROM inodes GROUP BY host) AS last USING (host, day)
GROUP BY host, owner ORDER BY size DESC, host, owner;

-- name: ages
-- How much was last written how many years before the scan.
SELECT CAST(floor(year(time) - year(modified) + (dayofyear(time) - dayofyear(modified)) / 365.2425) AS INT) AS years,
       sum(own) AS size
FROM inodes WHERE kind = 'file' GROUP BY 1 ORDER BY years;

-- name: growth
-- How much each owner grew from the first day to the last.
SELECT owner, sum(CASE WHEN day = end_day THEN own ELSE 0 END)
            - sum(CASE WHEN day = start_day THEN own ELSE 0 END) AS grown
FROM inodes CROSS JOIN (SELECT min(day) AS start_day, max(day) AS end_day FROM inodes) AS days
GROUP BY owner ORDER BY grown DESC, owner;

-- name: duplicates
-- The same name and size on several hosts: candidates for keeping only one copy.
SELECT name, own AS size, count(DISTINCT host) AS hosts, (count(DISTINCT host) - 1) * own AS spare
FROM inodes WHERE kind = 'file' AND own > 0
GROUP BY name, own HAVING count(DISTINCT host) > 1 ORDER BY spare DESC, name LIMIT 100;

-- name: full
-- When each host will reach 1 TB, at the rate of all its days so far.
SELECT host, max(size) AS size, regr_slope(size, day_number) AS a_day,
       (1e12 - max(size)) / nullif(regr_slope(size, day_number), 0) AS days_left
FROM (SELECT host, year(day) * 365.2425 + dayofyear(day) AS day_number, sum(own) AS size
      FROM inodes GROUP BY host, year(day) * 365.2425 + dayofyear(day)) AS totals
GROUP BY host ORDER BY days_left, host;
