"""Fails if a test that needs foreign tools did not run, or was skipped for lack of one.

Those are the classes whose name matches a pattern, and those that run a tool themselves: whose source calls Peers.

Usage: check_skipped.py PATTERN   (reads the XML reports of surefire and failsafe below the current folder)
"""

import glob
import os
import re
import sys
import xml.etree.ElementTree as ElementTree


PEERS_CALL = re.compile(r"\bPeers\.[a-z]\w*\(")


def needs_tools(path, pattern):
    name = os.path.splitext(os.path.basename(path))[0]
    if pattern.search(name):
        return True
    with open(path, encoding="utf-8") as source:
        return name.endswith("IT") and PEERS_CALL.search(source.read()) is not None


def main():
    pattern = re.compile(sys.argv[1])
    # From the sources, so that a class that left no report at all is missed.
    expected = {
        os.path.splitext(os.path.basename(path))[0]
        for path in glob.glob("*/src/test/java/**/*.java", recursive=True)
        if needs_tools(path, pattern)
    }
    ran, skipped = {}, []
    for report in sorted(glob.glob("*/target/*-reports/TEST-*.xml")):
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            reason = case.find("skipped")
            name = case.get("classname", "").split("$")[0].split(".")[-1]
            if reason is None:
                ran[name] = ran.get(name, 0) + 1
                continue
            print(f"skipped: {name}.{case.get('name')}: {reason.get('message', '').strip()}")
            if name in expected:
                skipped.append(f"{name}.{case.get('name')}")
    missing = sorted(name for name in expected if name not in ran)
    if skipped or missing or not expected:
        sys.exit(
            f"Expected every test that needs foreign tools to run, but skipped: {skipped}, "
            f"classes of which none ran: {missing}, classes found: {sorted(expected)}."
        )
    print(f"{sum(ran[name] for name in expected)} tests of {sorted(expected)} ran")


if __name__ == "__main__":
    main()
