"""What stands for each public report of a gateway's fault, and for each case of damage on the wire.

The numbers are those of the list of reports that this project began with; the odd inputs of `test_reported` carry them
in their names. A report that concerns no proxy, or nothing that a test can see, says why.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

TABLE = "conformance/test_identical.py::test_an_answer_is_the_upstreams_to_the_byte"
LEAVING = "conformance/test_identical.py::test_a_client_that_leaves_is_gone_for_the_upstream_within_a_second"
ODD_ANSWERS = "conformance/test_reported.py::test_an_odd_answer_passes_as_it_is_and_is_understood"
ODD_REQUESTS = "conformance/test_reported.py::test_an_odd_request_goes_up_as_it_is_and_with_its_block"
NODE = "integration/test_client_node.py::test_a_clients_view_is_the_same_as_without_a_proxy"
FRAMES = "integration/test_transport_answers.py::test_frames_of_every_kind_pass_and_none_is_made_up"
AT_ONCE = "integration/test_transport_answers.py::test_every_piece_is_passed_on_before_the_next_one_comes"
REFUSALS = "integration/test_transport_answers.py::test_refusals_pass_with_every_header_and_nothing_is_learned"
CODED = "integration/test_transport_answers.py::test_compressed_answers_pass_as_they_are_and_are_understood"
DEATHS = "integration/test_transport_answers.py::test_an_upstream_that_dies_is_seen_to_die"
CUT_OFF = "integration/test_transport_answers.py::test_when_the_client_leaves_the_upstream_is_cut_off_at_once"
HEADERS = "integration/test_transport_requests.py::test_headers_go_up_in_order_with_repeats_and_to_the_byte"
TARGETS = "integration/test_transport_requests.py::test_method_path_and_query_go_up_as_they_came"
CUTS = "properties/test_wire_streams.py::test_every_cut_of_a_stream_gives_the_same_reply"
EVENTS = "properties/test_wire_streams.py::test_events_follow_the_standard"
SPANS = "properties/test_wire_splice.py::test_without_the_inserted_spans_the_original_bytes_are_there_again"
SPLIT = "integration/test_placement.py::test_split_leaves_an_upstreams_prompt_cache_as_warm_as_without_memory"
INJECTED, KEPT = "cases/test_what_is_injected.py", "cases/test_what_is_kept.py"
LEARNED, CARRIED = "cases/test_what_is_learned.py", "cases/test_what_goes_over_the_wire.py"
C1 = f"{INJECTED}::test_c1_there_is_one_leading_system_message"

Stands = list[str] | str  # tests, or why there is none

REPORTS: dict[int, Stands] = {
    1: [TABLE, FRAMES],
    2: [ODD_ANSWERS, AT_ONCE],
    3: [TABLE, FRAMES],
    4: [TABLE, EVENTS],
    5: [ODD_ANSWERS, TABLE],
    6: [ODD_ANSWERS, FRAMES],
    7: [TABLE, CUTS],
    8: [TABLE, CUTS],
    9: [ODD_ANSWERS, CUTS],
    10: [TABLE, "properties/test_wire_streams.py::test_events_do_not_depend_on_where_the_bytes_are_cut"],
    11: [TABLE, EVENTS],
    12: [TABLE, FRAMES],
    13: [TABLE, FRAMES],
    14: [ODD_ANSWERS, TABLE],
    15: [ODD_ANSWERS, TABLE],
    16: [ODD_ANSWERS, TABLE],
    17: [ODD_ANSWERS, "unit/wire/test_wire_responses.py::test_a_stream_is_understood"],
    18: ["integration/test_transport_answers.py::test_event_streams_say_that_nobody_is_to_hold_them_back", AT_ONCE],
    19: [TABLE, CODED],
    20: [CODED, REFUSALS],
    21: [
        "integration/test_transport_codings.py::"
        "test_a_compressed_request_is_understood_and_goes_on_uncompressed_with_its_block",
        "integration/test_transport_codings.py::test_what_cannot_be_decoded_goes_on_as_it_came_and_leaves_no_trace",
    ],
    22: [ODD_REQUESTS, SPANS],
    23: [TABLE, "integration/test_relay.py::test_a_changed_body_gets_its_own_length_and_no_transfer_encoding"],
    24: [LEAVING],
    25: [LEAVING, CUT_OFF],
    26: [LEAVING, CUT_OFF],
    27: [LEAVING, "integration/test_transport_answers.py::test_chats_that_are_abandoned_leave_nothing_behind"],
    28: ["integration/test_relay.py::test_recording_outlives_a_client_that_leaves_in_the_middle_of_it"],
    29: [TABLE, DEATHS],
    30: [
        ODD_ANSWERS,
        "integration/test_conversations.py::test_an_answer_that_breaks_off_is_marked_and_the_users_words_are_kept",
    ],
    31: [TABLE, ODD_ANSWERS],
    32: [TABLE, DEATHS],
    33: [TABLE, REFUSALS, NODE],
    34: [TABLE, REFUSALS],
    35: [TABLE, REFUSALS, NODE],
    36: ["integration/test_transport_requests.py::test_an_order_is_not_repeated_when_its_connection_breaks"],
    37: [
        "integration/test_relay.py::test_a_kept_connection_that_the_upstream_has_closed_is_replaced_unseen",
        "integration/test_transport_requests.py::test_a_question_is_asked_once_more_when_a_kept_connection_breaks",
    ],
    38: [ODD_REQUESTS, C1],
    39: [ODD_REQUESTS, C1],
    40: ["integration/test_placement.py::test_a_target_can_have_its_own_placement"],
    41: [ODD_REQUESTS, f"{INJECTED}::test_c1_a_client_that_uses_developer_gets_developer"],
    42: [ODD_ANSWERS],
    43: [ODD_ANSWERS],
    44: [ODD_ANSWERS],
    45: [f"{LEARNED}::test_a3_memory_does_not_feed_on_itself"],
    46: [
        f"{LEARNED}::test_a1_system_text_is_never_offered_to_extraction",
        f"{LEARNED}::test_a3_a_block_that_the_client_echoes_is_cut_before_learning",
        "integration/test_conversations.py::test_a_replayed_conversation_stores_each_turn_once_and_offers_it_once",
    ],
    47: [ODD_REQUESTS, f"{INJECTED}::test_j6_memory_text_cannot_forge_the_blocks_structure"],
    48: [SPLIT, ODD_REQUESTS],
    49: [ODD_ANSWERS],
    50: ["integration/test_transport_chain.py::test_one_block_one_record_one_set_of_headers_and_the_upstreams_bytes"],
    51: [ODD_ANSWERS, ODD_REQUESTS, f"{KEPT}::test_n1_a_last_chunk_with_only_usage_changes_nothing"],
    52: [ODD_ANSWERS, f"{CARRIED}::test_n6_of_several_choices_the_first_is_kept_and_all_are_passed_on"],
    53: [ODD_ANSWERS, TABLE],
    54: [ODD_ANSWERS, TABLE],
    55: [HEADERS],
    56: [TABLE, HEADERS],
    57: [TARGETS, "integration/test_client_anthropic.py::test_counting_tokens_counts_the_block_and_is_no_turn"],
    58: ["integration/test_transport_websocket.py::test_where_memory_acts_over_http_a_client_is_sent_there"],
    59: [
        "integration/test_transport_requests.py::"
        "test_the_upstream_sees_the_first_part_before_the_client_has_sent_the_last",
        "integration/test_relay.py::test_twenty_megabytes_down_arrive_whole",
    ],
    60: [ODD_REQUESTS, TABLE],
    61: [ODD_REQUESTS],
    62: "A choice of HTTP client, not a behaviour: `memproxy bench relay` measures what it costs.",
    63: [
        "unit/wire/test_wire_replies.py::test_a_line_of_many_megabytes_is_read_in_linear_time_and_what_is_longer_is_left_out"
    ],
    64: ["integration/test_transport_answers.py::test_chats_that_are_abandoned_leave_nothing_behind"],
}

CASES: dict[str, Stands] = {
    "C1": [C1, f"{INJECTED}::test_c1_without_a_system_message_one_is_added_in_front"],
    "C3": [
        f"{INJECTED}::test_c3_system_parts_stay_and_one_text_part_is_added",
        "integration/test_found_faults.py::test_a_fault_in_reading_or_editing_a_request_sends_it_as_it_came",
    ],
    "C5": [f"{INJECTED}::test_c5_tool_calls_and_their_results_are_identical_upstream"],
    "C7": [f"{CARRIED}::test_c7_a_client_without_tools_gets_none"],
    "C8": [f"{CARRIED}::test_c8_what_came_before_the_newest_message_is_the_same_at_the_next_turn", SPLIT],
    "C10": [f"{INJECTED}::test_c10_the_block_shrinks_to_what_the_window_leaves"],
    "C11": [f"{INJECTED}::test_c11_chinese_counts_at_least_a_token_a_character"],
    "C12": [f"{INJECTED}::test_c12_nothing_is_injected_where_nothing_bears_on_the_message"],
    "C14": [f"{CARRIED}::test_c14_what_is_to_be_left_alone_is_found_only_when_it_is_asked_for"],
    "C15": [
        f"{CARRIED}::test_c15_the_clients_system_prompt_survives_word_for_word",
        f"{CARRIED}::test_c15_a_model_that_is_to_keep_its_own_system_prompt_gets_no_other",
    ],
    "C17": [f"{CARRIED}::test_c17_a_request_without_words_goes_up_as_it_is_and_costs_nothing"],
    "C18": [
        f"{CARRIED}::test_c18_off_is_off_on_every_path",
        f"{INJECTED}::test_c18_off_leaves_no_trace_in_any_file",
        f"{INJECTED}::test_c18_read_recalls_but_stores_nothing",
    ],
    "C19": [
        f"{CARRIED}::test_c19_a_question_beside_a_long_diff_is_recalled_for",
        "unit/recall/test_recall_query.py::test_c19_a_question_after_a_long_diff_is_kept",
    ],
    "C21": [f"{CARRIED}::test_c21_a_request_of_the_past_is_told_as_one_of_the_past"],
    "N1": [f"{KEPT}::test_n1_a_last_chunk_with_only_usage_changes_nothing"],
    "N3": [f"{CARRIED}::test_n3_a_client_that_leaves_takes_the_upstream_along_and_leaves_no_answer"],
    "N5": [f"{KEPT}::test_n5_compressed_answers_arrive_as_they_were_sent_and_are_understood"],
    "N6": [
        f"{KEPT}::test_n6_failed_calls_pass_unchanged_and_teach_nothing",
        f"{CARRIED}::test_n6_an_error_in_a_body_that_says_200_teaches_nothing",
        f"{CARRIED}::test_n6_of_several_choices_the_first_is_kept_and_all_are_passed_on",
        f"{CARRIED}::test_n6_other_endpoints_pass",
    ],
    "N7": [f"{CARRIED}::test_n7_a_companys_own_authority_counts_for_chats_and_for_learning"],
}


def test_every_report_has_its_number() -> None:
    assert list(REPORTS) == list(range(1, 65))


@pytest.mark.parametrize("name", [*map(str, REPORTS), *CASES])
def test_what_stands_for_a_report_exists(name: str) -> None:
    stands = CASES[name] if name in CASES else REPORTS[int(name)]
    if isinstance(stands, str):
        assert stands.endswith(".")
        return
    for test in stands:
        file, _, function = test.partition("::")
        assert function in functions(file), test


@cache
def functions(file: str) -> set[str]:
    """The functions that a file defines."""
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
