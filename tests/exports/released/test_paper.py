"""What a paper says of a release, from its folder alone; and a deposit that names nobody."""

import hashlib
import json
import zipfile

import pytest
from django.core.management import CommandError, call_command

from accounts.models import ConsentText
from annotation.models import Campaign
from exports.released.deposit import REMOVED, scrubbed
from exports.released.paper import latex
from tests import factories

pytestmark = pytest.mark.django_db


def release(campaign, folder, *options):
    call_command("release", campaign.slug, "--format", "labels", "--to", str(folder), *options)
    return folder


def paper(folder, to, *options):
    call_command("release_paper", str(folder), "--to", str(to), *options)
    return {path.name: path for path in to.iterdir()}


def test_tables_and_paragraph_say_what_the_release_says(judged, tmp_path):
    files = paper(release(judged, tmp_path / "out", "--license", "CC-BY-4.0"), tmp_path / "paper")
    tables, methods = (files[name].read_text() for name in ("tables.tex", "methods.tex"))
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert "train & 5 \\\\" in tables
    for label, count in ((4, 1), (3, 1), (2, 2), (1, 1)):
        assert f"{label} & {count} \\\\" in tables
    [agreement] = manifest["agreement"]
    assert f"$\\alpha$ = {agreement['alpha']:.2f}" in tables
    assert tables.count("\\begin{table}") == tables.count("\\end{table}") == 4
    assert "The dataset has 5 items (train 5)." in methods
    assert "The error of the labels was not measured." in methods
    assert "published under CC-BY-4.0." in methods
    assert "\n" not in methods.strip()


def test_a_table_of_baselines_stands_with_the_others_where_it_is_asked_for(judged, tmp_path):
    folder = release(judged, tmp_path / "out")
    with pytest.raises(CommandError, match=r"table\.tex"):
        paper(folder, tmp_path / "none", "--baselines", str(tmp_path))
    assert not (tmp_path / "none").exists()
    (tmp_path / "table.tex").write_text("\\begin{table}BM25 & 0.448\\end{table}\n")
    tables = paper(folder, tmp_path / "paper", "--baselines", str(tmp_path))["tables.tex"].read_text()
    assert tables.endswith("\\end{table}\n\n\\begin{table}BM25 & 0.448\\end{table}\n")


def test_what_people_wrote_is_no_latex():
    assert latex("50% of {a_b} & \\input{x} ~^<>$#\n") == (
        r"50\% of \{a\_b\} \& \textbackslash{}input\{x\} \textasciitilde{}\textasciicircum{}\textless{}\textgreater{}\$\# "
    )


def test_a_deposit_holds_every_file_as_it_is(judged, tmp_path):
    folder = release(judged, tmp_path / "out")
    with zipfile.ZipFile(paper(folder, tmp_path / "paper")["deposit.zip"]) as deposit:
        names = {name.removeprefix("deposit/") for name in deposit.namelist()}
        assert names == {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        assert all(deposit.read(f"deposit/{name}") == (folder / name).read_bytes() for name in names)


def test_a_deposit_for_review_names_nobody_and_is_whole(tmp_path):
    campaign = factories.antique(items=2, n=1)
    Campaign.objects.filter(pk=campaign.pk).update(
        title="Harbours of Tolliver", content_warning="See https://lab.example.edu/~agnes/x"
    )
    ConsentText.objects.filter(scope=campaign.pk).update(
        purpose="Agnes Tolliver asks; write to agnes@lab.example.edu.", recorded="At http://10.1.2.3:8000/x"
    )
    person = factories.annotator(campaign)
    for _ in range(2):
        factories.vote(campaign, person, 3)
    factories.examine(campaign)
    folder = release(
        campaign,
        tmp_path / "out",
        "--author",
        "Tolliver, Agnes",
        "--author",
        "The Harbour Lab",
        "--license",
        "CC-BY-4.0",
    )
    with zipfile.ZipFile(paper(folder, tmp_path / "paper", "--anonymous")["deposit.zip"]) as deposit:
        texts = {name.removeprefix("deposit/"): deposit.read(name) for name in deposit.namelist()}
    assert "CITATION.cff" not in texts
    told = b"".join(texts[name] for name in ("README.md", "FAIR-WORK.md", "croissant.json", "manifest.json")).decode()
    for secret in ("Tolliver", "Agnes", "Harbour Lab", "example.edu", "@", "10.1.2.3"):
        assert secret not in told.replace("@type", "").replace("@id", "").replace("@context", "").replace(
            "@language", ""
        ).replace("@vocab", "").replace("@json", ""), secret
    assert REMOVED in told
    assert json.loads(texts["manifest.json"])["authors"] == [REMOVED, REMOVED]
    assert json.loads(texts["croissant.json"])["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    for line in texts["SHA256SUMS"].decode().splitlines():
        digest, _, name = line.partition("  ")
        assert hashlib.sha256(texts[name]).hexdigest() == digest, name


def test_names_are_removed_in_each_spelling_and_words_that_hold_them_stay():
    text = "Agnes Tolliver and AGNES (Tolliver, Agnes) at tolliver.example; Tollivers stay."
    assert (
        scrubbed(text, ["Tolliver, Agnes"])
        == f"{REMOVED} and {REMOVED} ({REMOVED}) at {REMOVED}.example; Tollivers stay."
    )


def test_folders_that_are_no_release_or_not_empty_end_with_a_sentence(judged, tmp_path):
    with pytest.raises(CommandError, match="this is the folder of a release"):
        paper(tmp_path / "none", tmp_path / "paper")
    folder = release(judged, tmp_path / "out")
    with pytest.raises(CommandError, match="isn't empty"):
        paper(folder, folder)
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(CommandError, match="complete release"):
        paper(folder, tmp_path / "paper")
    (folder / "manifest.json").write_text('{"files": {}, "splits": 7, "campaign": "a", "release": 1}')
    with pytest.raises(CommandError, match="is incomplete"):
        paper(folder, tmp_path / "other")
