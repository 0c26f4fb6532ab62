"""Questions to the datasets of many rocescope boxes, in Spark.

Every function takes frames and returns a frame; nothing runs before you ask for rows.

| module | what it answers |
|---|---|
| `dataset` | tables of one or many datasets as frames |
| `flows` | the largest flows of the fleet, with bounds |
| `flow_counts` | how many flows there were, from bitmaps and HyperLogLogs |
| `count_min` | how large any flow was, from Count-Min sketches |
| `listed` | which windows list all their flows |
| `sla` | loss and latency of windows, days, racks, hosts, pairs of NICs |
| `vote` | which link or switch drops probes (Algorithm 1 of Hostmesh) |
| `mesh` | what these two share: windows, paths, anomalous NICs |
| `fim` | how unevenly flows lie on links |
| `ends` | losses of a connection beside the counters of its two ends |
| `saved` | saved questions in SQL |
"""

from rocescope_fleet.count_min import count_min_estimates
from rocescope_fleet.dataset import Dataset, complete_windows, open_dataset, with_date, with_racks
from rocescope_fleet.ends import latest_connections, losses_beside_counters
from rocescope_fleet.fim import fim, fim_layers, path_loads
from rocescope_fleet.flow_counts import flow_counts
from rocescope_fleet.flows import top_flows
from rocescope_fleet.mesh import MeshSettings, judged_probes
from rocescope_fleet.saved import Question, saved_questions
from rocescope_fleet.sla import sla, untraced_drops
from rocescope_fleet.vote import link_coverage, vote_links, vote_switches

__all__ = [
    "Dataset",
    "MeshSettings",
    "Question",
    "complete_windows",
    "count_min_estimates",
    "fim",
    "fim_layers",
    "flow_counts",
    "judged_probes",
    "latest_connections",
    "link_coverage",
    "losses_beside_counters",
    "open_dataset",
    "path_loads",
    "saved_questions",
    "sla",
    "top_flows",
    "untraced_drops",
    "vote_links",
    "vote_switches",
    "with_date",
    "with_racks",
]
