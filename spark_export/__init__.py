"""Floor 2, beside lazy: a vault's history as tables. Knows the vault only.

| where | what is there |
|---|---|
| `schema` | the tables: names, columns, meanings |
| `reader`, `queries`, `histories`, `columns` | one vault as these tables, in Arrow batches |
| `export`, `manifest`, `inputs` | Parquet files of them, what each export says of itself, those of a report |
| `datasource`, `session`, `extras` | Spark: a vault read in place, a session without set-up, optional packages |
| `audits`, `reports`, `checks`, `naming` | the questions, the runner, signatures checked, who is called what |
| `html` | a page of the answers |
| `errors` | what can go wrong |
"""
