# From a callgrind profile: instructions that `program` itself executed, divided by `calls`.
#
# "ob=" names the object of the costs that follow, in full only the first time: "ob=(2) /usr/lib/...", later "ob=(2)".
# The line after "calls=" is the cost of a called function, which is counted where it runs.
/^ob=/ { id = substr($1, 4); if (NF > 1) name[id] = $2; own = name[id] == program }
/^cob=/ { if (NF > 1) name[substr($1, 5)] = $2 }
/^calls=/ { getline; next }
/^[0-9+*-]/ { if (own) sum += $2 }
END { print sum / calls }
