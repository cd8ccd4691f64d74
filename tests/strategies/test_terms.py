"""How text becomes terms: what counts as the same, what as a word, and what a query asks for."""

from __future__ import annotations

import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentstore.core.errors import ValidationFailed
from agentstore.strategies import terms
from agentstore.strategies.terms import (
    Run,
    analyse_query,
    compile_query,
    count_terms,
    dedup_key,
    fold,
    normalize_text,
    runs,
)

# Letters, marks, digits, apostrophes, separators and invisible characters of many scripts.
TEXTS = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("aAzZ09 _-.'’ʼ\u0301\u200d\u200b\u00ad表格を删ﾌﾟ한글ไฟล์ि़्ßŉİΣ①ﬁ"),
    ),
    max_size=40,
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("PDF", "pdf"),
        ("ＰＤＦ", "pdf"),
        ("ﾌｧｲﾙ", "ファイル"),
        ("ﾌﾟ", "プ"),
        ("ﬁle", "file"),
        ("Straße", "strasse"),
        ("ς", "σ"),
        ("zero\u200bwidth", "zerowidth"),
        ("soft\u00adhyphen", "softhyphen"),
        ("a\u200d\u0301", "á"),
        ("heart\ufe0f", "heart"),
        ("\u3164\ufeff", ""),
        ("①", "1"),
    ],
    ids=ascii,
)
def test_differences_no_reader_means_are_folded(text, folded):
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("año", "ano"),
        ("が", "か"),
        ("mã", "ma"),
        ("हिन्दी", "हनद"),
        ("İstanbul", "istanbul"),
        ("ひ", "ヒ"),
        ("车", "車"),
    ],
)
def test_diacritics_and_scripts_stay_different(one, other):
    """Without its marks が is か, and Hindi loses its vowels; the last three are known misses."""
    assert fold(one) != fold(other)


@given(TEXTS)
def test_folding_twice_is_folding_once(text):
    assert fold(fold(text)) == fold(text)


@given(TEXTS)
def test_folding_leaves_composed_text(text):
    assert unicodedata.is_normalized("NFKC", fold(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("user_id", ["user", "id"]),
        ("report.pdf", ["report", "pdf"]),
        ("well-known", ["well", "known"]),
        ("a/b\\c:d", ["a", "b", "c", "d"]),
        ("don't", ["dont"]),
        ("don’t", ["dont"]),
        ("donʼt", ["dont"]),
        ("l'été", ["lété"]),
        ("'quoted' words", ["quoted", "words"]),
        ("‘quoted’ wörds", ["quoted", "wörds"]),
        ("5'10 ö", ["5", "10", "ö"]),
        ("90's ö", ["90", "s", "ö"]),
        ("5'10", ["5", "10"]),
        ("x\u0302'y", ["x\u0302y"]),
        ("python3.11", ["python3", "11"]),
        ("हिन्दी फ़ाइल", ["हिन्दी", "फ\u093cाइल"]),
        ("x²", ["x2"]),
        ("½", ["1", "2"]),
        ("C++ 🙂 #1", ["c", "1"]),
        ("\u0301a", ["a"]),
        ("ملف العميل", ["ملف", "العميل"]),
        ("Файл", ["файл"]),
        ("", []),
        ("?! — …", []),
    ],
    ids=ascii,
)
def test_runs_are_letters_digits_and_marks(text, words):
    assert runs(text) == [Run(word, False) for word in words]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pdf文件", [("pdf", False), ("文件", True)]),
        ("文件2份", [("文件", True), ("2", False), ("份", True)]),
        ("日々のファイルー", [("日々のファイルー", True)]),
        ("파일을 삭제", [("파일을", True), ("삭제", True)]),
        ("ไฟล์", [("ไฟล์", True)]),
        ("ໄຟລ໌", [("ໄຟລ໌", True)]),
        ("ឯកសារ", [("ឯកសារ", True)]),
        ("ဖိုင်", [("ဖိုင်", True)]),
        ("ㄅㄆ", [("ㄅㄆ", True)]),
        ("二〇二六", [("二〇二六", True)]),
        ("๑๒ ไฟล์", [("๑๒", False), ("ไฟล์", True)]),
        ("打开‘文件’夹", [("打开", True), ("文件", True), ("夹", True)]),
        ("用'pdf'", [("用", True), ("pdf", False)]),
        ("𠀀𠀁", [("𠀀𠀁", True)]),
        ("スラッシュ・タグ", [("スラッシュ", True), ("タグ", True)]),
        ("文\u302a件", [("文\u302a件", True)]),
    ],
)
def test_a_run_never_mixes_spaced_and_unspaced_scripts(text, expected):
    assert runs(text) == [Run(*run) for run in expected]


@pytest.mark.parametrize(
    "code",
    [
        0x0E01,
        0x3006,
        0x30FC,
        0x3105,
        0x3400,
        0x4DBF,
        0x4E00,
        0x9FFF,
        0xAC00,
        0xD7A3,
        0x20000,
        0x30000,
        0x0E81,
    ],
)
def test_first_and_last_of_the_unspaced_ranges_belong_to_them(code):
    assert all(unspaced for _, unspaced in runs(chr(code)))
    assert runs(chr(code)) != []


@pytest.mark.parametrize("char", ["a", "я", "ع", "א", "ह", "ა", "Ꭰ", "ꦲ", "\u0d85"])
def test_other_letters_are_alphanumeric(char):
    assert [unspaced for _, unspaced in runs(char)] == [False]


def test_a_problem_is_found_under_its_words_characters_and_bigrams():
    assert terms.terms("Extract 表格们 from the PDF") == {
        "extract",
        "from",
        "the",
        "pdf",
        "表",
        "格",
        "们",
        "表格",
        "格们",
    }


def test_stop_words_are_dropped_from_the_query_only():
    assert compile_query("how do I extract the tables") == {"extract", "tables"}
    assert {"how", "do", "i", "the"} <= terms.terms("how do I extract the tables")


def test_the_stop_list_is_frozen():
    """Another list gives other answers: it needs another ``STOP_VERSION``, and then another digest here."""
    digest = hashlib.sha256(" ".join(sorted(terms.STOP_WORDS)).encode()).hexdigest()[:16]

    assert (terms.STOP_VERSION, len(terms.STOP_WORDS), digest) == (1, 118, "1d90076ad487ae3a")


@pytest.mark.parametrize(
    "word",
    ["not", "no", "never", "without", "except", "only", "all", "any", "before", "after", "up", "down", "out",
     "one", "two", "first", "last", "dont", "cant", "wont", "system", "computer", "run", "fix", "move"],
)  # fmt: skip
def test_the_stop_list_holds_nothing_that_changes_what_is_asked(word):
    assert word not in terms.STOP_WORDS


def test_stop_words_are_as_the_tokenizer_gives_them():
    assert all(runs(word) == [Run(word, False)] for word in terms.STOP_WORDS)


@pytest.mark.parametrize("query", ["", "  ", "how do I do this", "please", "?!", "🙂", "\ud800\0"])
def test_a_query_without_significant_terms_compiles_to_none(query):
    assert compile_query(query) is None


@pytest.mark.parametrize("text", [None, 5, b"pdf", ["pdf"], {"text": "pdf"}], ids=repr)
@pytest.mark.parametrize(
    "rule",
    [fold, runs, terms.terms, analyse_query, compile_query, count_terms, normalize_text,
     lambda text: dedup_key(text, "s"), lambda text: dedup_key("p", text)],
    ids=["fold", "runs", "terms", "analyse_query", "compile_query", "count_terms", "normalize_text",
         "problem", "strategy"],
)  # fmt: skip
def test_what_is_no_text_is_refused_by_every_rule(rule, text):
    with pytest.raises(ValidationFailed, match=f"Expected text, found {type(text).__name__}"):
        rule(text)


@pytest.mark.parametrize(
    ("query", "required"),
    [
        ("请帮我 extract tables from report.pdf", {"extract", "tables", "report", "pdf"}),
        ("用 pdfplumber 提取 表格", {"pdfplumber"}),
        ("提取表格", {"提取", "取表", "表格"}),
        ("表", {"表"}),
        ("the 表格", {"表格"}),
        ("top 3", {"top", "3"}),
        ("R", {"r"}),
        ("don't stop", {"dont", "stop"}),
    ],
)
def test_words_are_required_or_else_bigrams(query, required):
    assert compile_query(query) == required


def test_a_query_says_what_counts_and_what_is_left_out_in_order():
    query = analyse_query("Please extract the 表格 of PDF tables, extract 表格")

    assert query.words == ("extract", "pdf", "tables")
    assert query.grams == ("表格",)
    assert query.left_out == ("please", "the", "of")
    assert query.every == ("extract", "pdf", "tables", "表格")


@given(TEXTS)
def test_every_text_finds_itself(text):
    assert (compile_query(text) or frozenset()) <= terms.terms(text)


@given(TEXTS)
def test_terms_survive_folding(text):
    assert terms.terms(fold(text)) == terms.terms(text)


@pytest.mark.parametrize(
    ("problem", "count"),
    [
        ("Extract the tables", 2),
        ("tables tables", 1),
        ("提取表格", 3),
        ("表", 1),
        ("pdf 表格", 2),
        ("how to", 0),
    ],
)
def test_only_significant_terms_are_counted(problem, count):
    assert count_terms(problem) == count


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  Read\t\n the \u3000FILE ", "read the file"),
        ("C++", "c++"),
        ("rm ./*", "rm ./*"),
        ("ファイルを読む。", "ファイルを読む。"),
        ("\u200b", ""),
    ],
)
def test_normalised_text_is_folded_and_stripped_and_keeps_punctuation(text, normal):
    assert normalize_text(text) == normal


@given(TEXTS)
def test_normalising_twice_is_normalising_once(text):
    assert normalize_text(normalize_text(text)) == normalize_text(text)


def test_the_same_content_has_one_key():
    assert dedup_key("Read  the FILE", "Use ＰＤＦ") == dedup_key("read the file ", "use pdf")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("ab", "c"), ("a", "bc")),
        (("p", "s"), ("s", "p")),
        (("p", "s"), ("p", "t")),
        (("C", "s"), ("C++", "s")),
        (("読む", "s"), ("書く", "s")),
    ],
)
def test_other_content_has_another_key(one, other):
    assert dedup_key(*one) != dedup_key(*other)


def test_the_key_carries_its_version_and_fits_a_column():
    key = dedup_key("p" * 8192, "s" * 4096)

    assert key.startswith("1:")
    assert len(key) == 66


def test_stored_terms_name_the_rules_and_the_unicode_they_were_made_with():
    rules, unicode_version = terms.TOKENIZER_VERSION.split("/")

    assert int(rules) == terms.RULES
    assert unicode_version == unicodedata.unidata_version
