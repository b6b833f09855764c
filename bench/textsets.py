"""python3 bench/textsets.py OUT: text sets for bench/textdefaults.ts, train and test parts, from Debian's and npm's packages.

In the current folder: `npm install emojibase-data cldr-annotations-full cldr-annotations-derived-full`; packages of Debian unpacked with
`apt-get download NAME && dpkg-deb -x NAME_*.deb x-NAME` for fortunes, fortunes-de, -ru, -es and -cs; dep11.gz, a distribution's AppStream
metadata (dists/bookworm/main/dep11/Components-amd64.yml.gz). DATA (optional): the folder with debtags, library and eurlex-text.
"""

import glob
import gzip
import hashlib
import json
import os
import random
import re
import sys

import yaml

OUT = sys.argv[1]
DATA = os.environ.get("DATA")


def number(text):
    return int(hashlib.md5(text.encode()).hexdigest()[:8], 16)


def save(name, train, test):
    os.makedirs(f"{OUT}/{name}", exist_ok=True)
    for part, rows in (("train", train), ("test", test)):
        with open(f"{OUT}/{name}/{part}.jsonl", "w") as file:
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(name, len(train), len(test), len({label for row in train for label in row["labels"]}))


def put(name, rows, most=None):
    """Each text once, 70 % to learn from, by a hash."""
    rows = {text.strip(): labels for text, labels in reversed(rows) if text.strip() and labels}
    rows = [{"text": text, "labels": labels} for text, labels in sorted(rows.items(), key=lambda row: number(row[0]))]
    cut = int(len(rows) * 0.7)
    save(name, rows[:cut][:most], rows[cut:][: most and 2500])


def emoji(language):
    read = lambda path: json.load(open(f"node_modules/{path}.json"))
    names = read("emojibase-data/en/messages")
    groups, subgroups = ({each["order"]: each["key"] for each in names[key]} for key in ("groups", "subgroups"))
    said = read(f"cldr-annotations-full/annotations/{language}/annotations")["annotations"]["annotations"]
    said |= read(f"cldr-annotations-derived-full/annotationsDerived/{language}/annotations")["annotationsDerived"]["annotations"]
    rows = []
    for each in read("emojibase-data/en/data"):
        own = said.get(each["emoji"]) or said.get(each["emoji"].replace("\ufe0f", ""))
        if not own or "group" not in each or not own.get("tts"):
            continue
        name = own["tts"][0]
        words = " ".join(word for word in own.get("default", []) if word != name)[:200]
        rows.append((f"{name} {words}", [groups[each["group"]], subgroups[each["subgroup"]]]))
    put(f"emoji-{language}", rows)


def fortunes(name, pattern, skip="$^"):
    rows = []
    for path in sorted(glob.glob(pattern)):
        label = os.path.basename(path).replace(".fortunes", "")
        if path.endswith((".dat", ".u8")) or os.path.isdir(path) or re.match(skip, label):
            continue
        try:
            texts = [text for text in re.split(r"\n%.*\n", open(path, encoding="utf8").read()) if len(text.split()) > 2]
        except UnicodeDecodeError:
            continue
        if len(texts) >= 20:
            rows += [(text[:3000], [label]) for text in texts[:400]]
    random.Random(1).shuffle(rows)
    put(name, rows, 6000)


def appstream(language, components):
    rows = []
    for each in components:
        labels = [name for name in (each or {}).get("Categories") or [] if not name.startswith("X-")]
        key = "C" if language == "en" else language
        name, summary, text = ((each or {}).get(field) or {} for field in ("Name", "Summary", "Description"))
        if labels and summary.get(key):
            rows.append((f"{name.get(key) or name.get('C', '')}. {summary[key]}. {text.get(key) or ''}", labels))
    put(f"appstream-{language}", rows)
    put(f"appshort-{language}", [(text.split(". <p>")[0][:200], labels) for text, labels in rows])


for language in "zh ja ko th ar he hi de ru km my lo".split():
    emoji(language)
fortunes("fortunes-en", "x-fortunes/usr/share/games/fortunes/*")
for language in "de ru es cs".split():
    # Russian files by month, and collections of books, are no topics.
    fortunes(f"fortunes-{language}", f"x-fortunes-{language}/usr/share/games/fortunes/{language}/*", r"\d|[bd]\d")
components = list(yaml.load_all(gzip.open("dep11.gz"), Loader=yaml.CSafeLoader))
for language in "en de ru zh_CN ja fr".split():
    appstream(language, components)
if DATA:
    lines = lambda path: [json.loads(line) for line in gzip.open(f"{DATA}/{path}.jsonl.gz", "rt")]
    pick = lambda rows, count: sorted(rows, key=lambda row: number(str(row["id"])))[:count]
    for language in "en", "de":
        save(f"library-{language}", lines(f"library/{language}-train"), lines(f"library/{language}-dev"))
    for name, other, sizes, measured in ("debtags", "test", (1000, 4000), 2000), ("eurlex-text", "dev", (1000, 4000, 8000), 1500):
        train, test = lines(f"{name}/train"), lines(f"{name}/{other}")
        for size in sizes:
            save(f"{name}-{size}", pick(train, size), test[:measured])
